/** `[security.policy]`: which tool calls run, which ask a person first, and which are refused (one agent's policy). */
import { type ClientId, SvcError, type Tool } from "@svc/contract";
import type { CoreConfig } from "@svc/config";
import type { ActionCount, ActionHistory } from "./action-history.ts";
import { judgeLine } from "./command-line.ts";
import { isAlwaysAllowed, type ApprovalScope, type ApprovalScopePlace, approvalScopeOf } from "./approval-scope.ts";

export type Verdict = Allow | Ask | Refuse;
export interface Allow {
  readonly verdict: "allow";
  /** A command line that runs because each of its commands is listed. `*` is every line: it trusts whatever they find. */
  readonly isListedLine?: true;
}
export interface Ask {
  readonly verdict: "ask";
  /** Why a person is asked, as a sentence. */
  readonly reason: string;
}
export interface Refuse {
  readonly verdict: "refuse";
  /** The config key that refuses. */
  readonly rule: string;
  /** A sentence that the model and the person can act on. */
  readonly reason: string;
}

export interface PolicyOptions {
  /** Name of the agent. */
  readonly agent: string;
  readonly policy: CoreConfig["security.policy"];
  /** `[tools] disabled`. */
  readonly disabledTools: readonly string[];
  readonly sandbox: {
    /** The backend in force, `none` when nothing confines. */
    readonly effective: string;
    /** The config says `backend = "none"`: the owner knows that nothing confines. */
    readonly chosenNone: boolean;
  };
  /** Absolute real path of the workspace's root. */
  readonly workspace: string;
  /** What this agent did in the last hour, whatever policy was in force then. */
  readonly actions: ActionHistory;
}

export interface Policy {
  /** `client`: whose limit the call counts against. `allow` counts it as an action at once, so that calls judged side by side can't pass the limit together. */
  judge(tool: Tool, input: unknown, client: ClientId): Verdict;
  /**
   * Counts an `ask` to which a person said yes. Throws TOOL_REFUSED when the limit was reached while the person was
   * thinking: a yes does not lift it.
   */
  recordAction(tool: Tool, client: ClientId): void;
  /** What a person's yes to a call that `judge` says `ask` of could last for. */
  lasting(tool: Tool, input: unknown): ApprovalScope;
}

export function createPolicy(options: PolicyOptions): Policy {
  const { actions } = options;

  return {
    judge(tool, input, client) {
      if (options.disabledTools.includes(tool.name)) return DISABLED;
      if (!acts(tool, input)) return ALLOW;
      if (options.policy.autonomy === "read_only") return READ_ONLY;
      const refused = usedUp(options, client);
      if (refused) return refused;
      const reason = reasonToAsk(options, tool, input);
      if (reason !== undefined) return { verdict: "ask", reason };
      actions.add(client);
      return tool.commandLine && !options.policy.allowed_commands.includes("*") ? LISTED_LINE : ALLOW;
    },
    lasting: (tool, input) => lastingIn(options, tool, input),
    recordAction(_, client) {
      const refused = usedUp(options, client);
      if (refused) throw new SvcError("TOOL_REFUSED", refused.reason);
      actions.add(client);
    },
  };
}

const ALLOW: Allow = { verdict: "allow" };
const LISTED_LINE: Allow = { verdict: "allow", isListedLine: true };

const DISABLED: Refuse = {
  verdict: "refuse",
  rule: "tools.disabled",
  reason: "This tool is switched off by tools.disabled; do the task without it or ask the owner to enable it.",
};

const READ_ONLY: Refuse = {
  verdict: "refuse",
  rule: "security.policy.autonomy",
  reason: 'security.policy.autonomy is "read_only", so nothing that acts is run; only reading tools can be used.',
};

/** `max_actions_per_hour` over a sliding hour, of all clients together and of this one; 0 is no limit. */
function usedUp({ actions, policy }: PolicyOptions, client: ClientId): Refuse | undefined {
  const { max_actions_per_hour: max, client_max_actions_per_hour: clientMax = max } = policy;
  const ofAll = reached(actions, max, "security.policy.max_actions_per_hour", "");
  // A client's number that is not below the agent's can't be reached first.
  if (ofAll || !policy.per_client || (max > 0 && clientMax >= max)) return ofAll;
  return reached(actions.of(client), clientMax, "security.policy.client_max_actions_per_hour", " to one client");
}

function reached(actions: ActionCount, max: number, rule: string, whom: string): Refuse | undefined {
  if (max === 0 || actions.count() < max) return undefined;
  const minutes = Math.ceil(actions.waitMs(max) / 60_000);
  const reason = `${rule} allows ${max} acting calls${whom}; the next one is possible in ${minutes} min.`;
  return { verdict: "refuse", rule, reason };
}

/** Whoever runs a command line acts, whatever else the tool says; a tool whose answer is an error is not trusted either. */
function acts(tool: Tool, input: unknown): boolean {
  if (tool.commandLine) return true;
  try {
    return (typeof tool.approval === "function" ? tool.approval(input) : tool.approval) !== "auto";
  } catch {
    return true;
  }
}

/** A line can do whatever the daemon's user can, and the owner has not said that this is intended. */
const UNCONFINED =
  'No sandbox confines commands here; security.sandbox.backend = "none" would say that this is intended.';

const isUnconfined = ({ sandbox }: PolicyOptions, tool: Tool): boolean =>
  tool.commandLine !== undefined && sandbox.effective === "none" && !sandbox.chosenNone;

const placeOf = ({ agent, policy, workspace }: PolicyOptions): ApprovalScopePlace => ({
  agent,
  workspace,
  forbiddenPaths: policy.forbidden_paths,
});

function lastingIn(options: PolicyOptions, tool: Tool, input: unknown): ApprovalScope {
  if (isUnconfined(options, tool)) return { conversation: undefined, always: undefined, reason: UNCONFINED };
  try {
    return approvalScopeOf(tool, input, placeOf(options));
  } catch {
    return { conversation: undefined, always: undefined, reason: NOT_UNDERSTOOD };
  }
}

const NOT_UNDERSTOOD = "The command line could not be understood.";

/** The sentence that makes the call wait for a person; undefined: it runs. */
function reasonToAsk(options: PolicyOptions, tool: Tool, input: unknown): string | undefined {
  // Before any list, "*" included.
  if (isUnconfined(options, tool)) return UNCONFINED;
  const reason = reasonOfLists(options, tool, input);
  return reason !== undefined && isAlways(options, tool, input) ? undefined : reason;
}

function isAlways(options: PolicyOptions, tool: Tool, input: unknown): boolean {
  try {
    return isAlwaysAllowed(options.policy.always, tool, input, placeOf(options));
  } catch {
    return false;
  }
}

function reasonOfLists(options: PolicyOptions, tool: Tool, input: unknown): string | undefined {
  const { policy } = options;
  if (tool.commandLine === undefined) {
    return policy.autonomy === "full" ? undefined : 'security.policy.autonomy is "supervised", and this tool acts.';
  }
  if (policy.allowed_commands.includes("*")) return undefined;
  try {
    return judgeLine(tool.commandLine(input), {
      allowedCommands: policy.allowed_commands,
      forbiddenPaths: policy.forbidden_paths,
      workspace: options.workspace,
      folder: tool.commandFolder?.(input) ?? ".",
    });
  } catch {
    return NOT_UNDERSTOOD;
  }
}
