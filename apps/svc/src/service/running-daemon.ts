/** Commands that make the running daemon read its config again, and wait for one that restarts. */
import type { ReloadReport } from "@svc/api/control";
import { homeOf } from "@svc/config/home";
import { SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { type Call, daemonAt } from "./control.ts";
import type { CommandContext } from "../cli/command.ts";

export interface Reloaded {
  /** For a person. */
  readonly text: string;
  /** For a script; null when no daemon runs. */
  readonly report: ReloadReport | null;
}

/** Never undone: the change is in the file. Throws what the daemon says against it. */
export async function reloadDaemon({ env }: CommandContext): Promise<Reloaded> {
  try {
    const report = await daemonAt(homeOf(env).controlSocket)({ name: "reload" });
    return { text: reloadText(report), report };
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

interface NewDaemon {
  readonly instance: string;
  readonly url: string;
}

const ASK_EVERY_MS = 100;
/** An absent daemon is absent only between its two lives: longer than that it did not come up. */
const ABSENT_AT_MOST_MS = 15_000;

/**
 * Waits for a daemon that said it would come again. It drains first, so that may take as long as daemon.drain_secs. Throws
 * NOT_RUNNING when it went away and did not come again.
 */
export async function untilReplaced(call: Call, instance: string): Promise<NewDaemon> {
  let absentSinceMs: number | undefined;
  for (;;) {
    const now = await statusOf(call);
    if (now && now.instance !== instance) return now;
    if (now) absentSinceMs = undefined;
    else absentSinceMs ??= systemClock.monotonic();
    if (absentSinceMs !== undefined && systemClock.monotonic() - absentSinceMs > ABSENT_AT_MOST_MS) {
      throw new SvcError("NOT_RUNNING", "The daemon stopped and did not come up again.", { hint: "See: svc logs" });
    }
    await systemClock.sleep(ASK_EVERY_MS);
  }
}

async function statusOf(call: Call): Promise<NewDaemon | undefined> {
  try {
    return await call({ name: "status" });
  } catch (error) {
    if (error instanceof SvcError && (error.code === "NOT_RUNNING" || error.code === "DAEMON_LOST")) return undefined;
    throw error;
  }
}
