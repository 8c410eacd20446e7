/** Whether anything confines the commands that the agents run. */
import { LIMIT_KEYS, type SandboxChoice } from "@svc/agent";
import { sandboxState } from "../../service/sandbox-state.ts";
import { error, type Finding, note, ok, warning } from "../finding.ts";
import { runsCommands } from "./policy.ts";
import { agentsOf, isConfined, type Settings } from "./settings.ts";

export function sandboxFindings(settings: Settings): Finding[] {
  const { sandbox } = settings;
  if (sandbox === undefined) {
    return [warning("sandbox", "It could not be told which sandbox is in force.", "run svc doctor again")];
  }
  const { effective, confined, summary, fix, reasons } = sandboxState(sandbox, settings);
  if (confined) return [ok("sandbox", [summary, ...reasons].join(" ")), ...unheldFindings(sandbox)];
  if (effective === "unavailable") return [error("sandbox", summary, fix ?? "set security.sandbox.required = false")];
  if (!agentsOf(settings).some((agent) => runsCommands(settings, agent))) {
    return [ok("sandbox", "No agent may run commands, so that none has to be confined.")];
  }
  return [warning("sandbox", summary, fix ?? "svc doctor")];
}

/** Limits that nobody wrote down: one that is written down and can't be held makes the sandbox unavailable. */
const unheldFindings = ({ effective, unenforced }: SandboxChoice): Finding[] =>
  unenforced.map((limit) => {
    const key = `security.sandbox.${LIMIT_KEYS[limit]}`;
    return note(
      "sandbox-limits",
      `The sandbox ${effective} can't hold the default of ${key} here.`,
      `set ${key} to demand it`,
    );
  });

/** Where nothing confines commands they have the network anyway. */
export function sandboxNetworkFindings(settings: Settings): Finding[] {
  if (!isConfined(settings)) return [];
  const id = "sandbox-network";
  return settings.config.core["security.sandbox"].network
    ? [note(id, "Commands in the sandbox reach the network.", "set security.sandbox.network = false")]
    : [ok(id, "Commands in the sandbox reach no network.")];
}
