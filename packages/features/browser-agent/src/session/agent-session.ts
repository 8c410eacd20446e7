/** One browser behind the program. */
import { type Clock, type Logger, SvcError } from "@svc/contract";
import {
  type BrowserAction,
  type DriverCall,
  type DriverResult,
  type DriverSession,
  browserGone,
} from "@svc/kit/browser";
import { perform } from "../actions/perform.ts";
import { endSession } from "../keeper/left-overs.ts";
import type { Program } from "../program/batch.ts";
import { PageStuck } from "../program/failures.ts";
import { DIALOG_STATUS, pageOf } from "./page.ts";
import type { SessionFolder } from "./session-folder.ts";
import { watchSize } from "./watch-size.ts";

export interface AgentSessionOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

export function agentSession(its: Program, folder: SessionFolder, { clock, log }: AgentSessionOptions): DriverSession {
  const ended = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  let isStuck = false;
  const page = pageOf(its);

  const close = async (): Promise<void> => {
    stopWatching();
    // Told by the program itself, Chromium ends in order; whatever is left is killed. Behind a page that is stuck it is not told.
    if (!isStuck)
      await its.batch([["close"]], { signal: AbortSignal.any([]), timeoutMs: CLOSE_TIMEOUT_MS }).catch(() => undefined);
    await end();
  };
  const end = async (): Promise<void> => {
    endSession(folder.name, folder.temporary);
    await folder.remove();
    ended.resolve();
  };
  const kill = (): Promise<void> => (closing ??= (stopWatching(), end()));
  const stopWatching = watchSize(folder.downloads, clock, () => {
    log.warn("a browser was ended: pages downloaded more than may be");
    void kill();
  });

  /** The program goes on with a command although nobody waits for it: once it answers something else, that is over. */
  const settled = async (): Promise<boolean> => {
    try {
      const rows = await its.batch([DIALOG_STATUS], { signal: AbortSignal.any([]), timeoutMs: SETTLE_TIMEOUT_MS });
      return rows.every(({ success }) => success);
    } catch {
      return false;
    }
  };

  return {
    ended: ended.promise,
    get isStuck() {
      return isStuck;
    },
    async perform(action: BrowserAction, call: DriverCall): Promise<DriverResult> {
      if (closing !== undefined) throw browserGone();
      try {
        const result = await perform(action, call, { its, page, folder, clock, kill });
        isStuck = false;
        return result;
      } catch (error) {
        if (!call.signal.aborted) isStuck = error instanceof PageStuck;
        if (call.signal.aborted && !(await settled())) await kill();
        throw closing === undefined || call.signal.aborted || saysWhy(error) ? error : browserGone();
      }
    },
    close: () => (closing ??= close()),
  };
}

const CLOSE_TIMEOUT_MS = 3000;
const SETTLE_TIMEOUT_MS = 1500;

/** Then the browser was ended by the action itself, which says why. */
const saysWhy = (error: unknown): boolean =>
  error instanceof SvcError && (error.code === "TOO_LARGE" || error.code === "REMOTE_TIMEOUT");
