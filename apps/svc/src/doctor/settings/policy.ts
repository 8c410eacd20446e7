/** What the agents may do unasked. */
import type { ResolvedAgent } from "@svc/config";
import { error, type Finding, note, ok, warning } from "../finding.ts";
import { agentsOf, isConfined, keyOf, mayUse, type Settings } from "./settings.ts";

export function policyFindings(settings: Settings): Finding[] {
  const confined = isConfined(settings);
  return agentsOf(settings).flatMap((agent) => [
    autonomy(agent, confined),
    allowedCommands(agent, confined),
    workspaceOnly(agent, confined || !runsCommands(settings, agent)),
  ]);
}

export const runsCommands = (settings: Settings, agent: ResolvedAgent): boolean =>
  agent.policy.autonomy !== "read_only" && mayUse(settings, agent, "shell");

function autonomy(agent: ResolvedAgent, confined: boolean): Finding {
  const { name, policy } = agent;
  const key = keyOf(agent, "security.policy", "autonomy");
  if (policy.autonomy !== "full") return ok("autonomy", `The agent ${name} is ${policy.autonomy.replace("_", "-")}.`);
  if (confined) return ok("autonomy", `The agent ${name} acts without approvals, inside the sandbox.`);
  const message = `The agent ${name} acts without approvals, and no sandbox confines its commands.`;
  return error("autonomy", message, `set ${key} = "supervised"`);
}

/** Gates of runs that it has started itself are people's, whatever the policy says. */
export function agentApprovalFindings(settings: Settings): Finding[] {
  const id = "agent-approves";
  return agentsOf(settings).map((agent) => {
    const { name, policy } = agent;
    if (policy.autonomy !== "full" || !mayUse(settings, agent, "sop_approve")) {
      return ok(id, `The agent ${name} lets no run of a procedure go on without being asked about it.`);
    }
    const message = `The agent ${name} may answer approvals of runs that others have started, and acts without approvals.`;
    return warning(id, message, 'add "sop_approve" to tools.disabled');
  });
}

function allowedCommands(agent: ResolvedAgent, confined: boolean): Finding {
  const { name, policy } = agent;
  if (!policy.allowed_commands.includes("*")) {
    if (process.platform === "win32" && policy.allowed_commands.length > 0) return listedOnWindows(agent);
    return ok("allowed-commands", `The agent ${name} may run ${policy.allowed_commands.length} commands unasked.`);
  }
  const key = keyOf(agent, "security.policy", "allowed_commands");
  const say = confined ? warning : error;
  return say("allowed-commands", `The agent ${name} may run every command unasked.`, `list the commands in ${key}`);
}

/** The policy does not take lines of cmd.exe apart. */
function listedOnWindows(agent: ResolvedAgent): Finding {
  const key = keyOf(agent, "security.policy", "allowed_commands");
  const message = `The list in ${key} has no effect on Windows: each command of the agent ${agent.name} asks.`;
  return warning("allowed-commands", message, `set ${key} = []`);
}

/** `holdsCommands`: there is none that it could not hold. */
function workspaceOnly(agent: ResolvedAgent, holdsCommands: boolean): Finding {
  const { name, policy } = agent;
  const id = "workspace-only";
  if (!policy.workspace_only) {
    const key = keyOf(agent, "security.policy", "workspace_only");
    return warning(id, `The agent ${name} may read and write files outside of its workspace.`, `set ${key} = true`);
  }
  if (holdsCommands) return ok(id, `The agent ${name} stays in its workspace.`);
  const message = `The file tools of the agent ${name} stay in its workspace, its commands do not: one that you allow can read this service's key, and answer in your place.`;
  const fix = `add "shell" to tools.disabled, or look at each command that asks for your yes`;
  return note(id, message, fix);
}
