/** What the agents may do unasked. */
import type { ResolvedAgent } from "@svc/kernel";
import { error, type Finding, ok, warning } from "../finding.ts";
import { agentsOf, keyOf, type Settings } from "./settings.ts";

export function policyFindings(settings: Settings): Finding[] {
  const confined = settings.sandbox !== undefined && !["none", "unavailable"].includes(settings.sandbox.effective);
  return agentsOf(settings).flatMap((agent) => [
    autonomy(agent, confined),
    allowedCommands(agent, confined),
    workspaceOnly(agent),
  ]);
}

function autonomy(agent: ResolvedAgent, confined: boolean): Finding {
  const { name, policy } = agent;
  const key = keyOf(agent, "security.policy", "autonomy");
  if (policy.autonomy !== "full") return ok("autonomy", `The agent ${name} is ${policy.autonomy.replace("_", "-")}.`);
  if (confined) return ok("autonomy", `The agent ${name} asks nobody, inside the sandbox.`);
  const message = `The agent ${name} asks nobody, and no sandbox confines what it runs.`;
  return error("autonomy", message, `set ${key} = "supervised"`);
}

function allowedCommands(agent: ResolvedAgent, confined: boolean): Finding {
  const { name, policy } = agent;
  if (!policy.allowed_commands.includes("*")) {
    return ok("allowed-commands", `The agent ${name} may run ${policy.allowed_commands.length} commands unasked.`);
  }
  const key = keyOf(agent, "security.policy", "allowed_commands");
  const say = confined ? warning : error;
  return say("allowed-commands", `The agent ${name} may run every command unasked.`, `list the commands in ${key}`);
}

function workspaceOnly(agent: ResolvedAgent): Finding {
  const { name, policy } = agent;
  if (policy.workspace_only) return ok("workspace-only", `The agent ${name} stays in its workspace.`);
  const key = keyOf(agent, "security.policy", "workspace_only");
  const message = `The agent ${name} may read and write files outside of its workspace.`;
  return warning("workspace-only", message, `set ${key} = true`);
}
