/** Whether anything confines the commands that the agents run. */
import { LIMIT_KEYS, type SandboxChoice } from "@svc/agent";
import { error, type Finding, note, ok, warning } from "../finding.ts";
import { runsCommands } from "./policy.ts";
import { agentsOf, isConfined, type Settings } from "./settings.ts";

export function sandboxFindings(settings: Settings): Finding[] {
  const { sandbox, catalogue } = settings;
  if (sandbox === undefined) {
    return [warning("sandbox", "It could not be told which sandbox is in force.", "run svc doctor again")];
  }
  const { effective, chosenNone, warning: why } = sandbox;
  if (effective === "unavailable") {
    const message = why ?? "A sandbox is required and none is available: commands are refused.";
    return [
      error("sandbox", message, "choose another security.sandbox.backend, or set security.sandbox.required = false"),
    ];
  }
  if (effective !== "none") return [ok("sandbox", inForce(sandbox)), ...unheldFindings(sandbox)];
  if (!agentsOf(settings).some((agent) => runsCommands(settings, agent))) {
    return [ok("sandbox", "No agent may run commands, so that none has to be confined.")];
  }
  if (chosenNone) {
    const message = "Commands run without a sandbox, as the config says.";
    return [warning("sandbox", message, 'set security.sandbox.backend = "auto"')];
  }
  return [warning("sandbox", why ?? "Commands run without a sandbox.", remedy(catalogue))];
}

/** Which, and why not a stronger one. */
function inForce({ effective, reasons }: SandboxChoice): string {
  const why = reasons.map((reason) => ` ${reason[0]?.toUpperCase()}${reason.slice(1)}.`).join("");
  return `Commands run in the sandbox ${effective}.${why}`;
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

function remedy(catalogue: Settings["catalogue"]): string {
  const here = catalogue.filter(
    ({ kind, planned, platforms }) =>
      kind === "sandbox" && !planned && (platforms.length === 0 || platforms.includes(process.platform)),
  );
  const addable = here.find(({ included }) => !included);
  if (here.some(({ included }) => included))
    return "install what the sandbox needs, or set security.sandbox.enabled = true";
  if (addable) return `npx pnpm build minimal --with ${addable.flag}`;
  return "none is written for this system yet; leave security.policy.autonomy at supervised";
}
