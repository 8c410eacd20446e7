/** Waits for a daemon that said it would come again. It drains first, so that may take as long as daemon.drain_secs. */
import { SvcError } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { systemClock } from "@svc/kit/system-clock";

export interface NewDaemon {
  readonly instance: string;
  readonly url: string;
}

const ASK_EVERY_MS = 100;
/** An absent daemon is absent only between its two lives: longer than that it did not come up. */
const ABSENT_AT_MOST_MS = 15_000;

/** Throws NOT_RUNNING when it went away and did not come again. */
export async function untilReplaced(socketFile: string, instance: string): Promise<NewDaemon> {
  let absentSinceMs: number | undefined;
  for (;;) {
    const now = await statusOf(socketFile);
    if (now && now.instance !== instance) return now;
    if (now) absentSinceMs = undefined;
    else absentSinceMs ??= systemClock.monotonic();
    if (absentSinceMs !== undefined && systemClock.monotonic() - absentSinceMs > ABSENT_AT_MOST_MS) {
      throw new SvcError("NOT_RUNNING", "The daemon stopped and did not come up again.", { hint: "See: svc logs" });
    }
    await systemClock.sleep(ASK_EVERY_MS);
  }
}

async function statusOf(socketFile: string): Promise<NewDaemon | undefined> {
  try {
    return (await callDaemon({ socketFile, name: "status" })) as unknown as NewDaemon;
  } catch (error) {
    if (error instanceof SvcError && (error.code === "NOT_RUNNING" || error.code === "DAEMON_LOST")) return undefined;
    throw error;
  }
}
