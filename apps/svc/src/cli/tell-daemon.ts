/** After a change of the config: the running daemon is told, and what came of it is said. */
import { type Json, SvcError } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { homeOf } from "@svc/config/home";
import type { ReloadReport } from "../service/reload.ts";
import type { CommandContext } from "./command.ts";

export interface Told {
  /** For a person. */
  readonly text: string;
  /** For a script; null when no daemon runs. */
  readonly report: Json;
}

/** Never undone: the change is in the file. Throws what the daemon says against it. */
export async function reloadDaemon({ env }: CommandContext): Promise<Told> {
  try {
    const report = await callDaemon({ socketFile: homeOf(env).controlSocket, name: "reload" });
    return { text: reloadText(report as unknown as ReloadReport), report };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (error.code === "NOT_RUNNING") return { text: "no daemon runs: it counts from the next start", report: null };
    throw new SvcError(error.code, `It is written, but the running daemon goes on as before: ${error.message}`, {
      hint: error.hint ?? "See: svc logs",
      cause: error,
    });
  }
}

export function reloadText({ changed, features, restart, warnings }: ReloadReport): string {
  // A feature may be made of files beside its section.
  if (changed.length + features.length === 0) return "nothing changed";
  return [
    ...(changed.length > 0 ? [`changed: ${changed.map((section) => `[${section}]`).join(", ")}`] : []),
    ...(features.length > 0 ? [`started anew: ${features.join(", ")}`] : []),
    ...(restart.length > 0 ? [`in force after a restart: ${restart.join(", ")}`] : []),
    ...warnings.map((warning) => `warning: ${warning}`),
  ].join("\n");
}
