import { type Clock, type Logger, SvcError } from "@svc/contract";
import {
  type BrowserAction,
  browserGone,
  type DriverCall,
  type DriverResult,
  type DriverSession,
  type ProxyAccess,
  sizeOf,
} from "@svc/kit/browser";
import { perform } from "./actions.ts";
import { environment, sessionFolder, type SessionFolder } from "./environment.ts";
import { endSession } from "./keeper.ts";
import { DIALOG_STATUS, pageOf } from "./page.ts";
import { PageStuck, program, type Program } from "./program.ts";

export interface OpenAgentOptions {
  /** The program, and the Chromium that it starts. */
  readonly file: string;
  readonly chromium: string;
  readonly sandbox: boolean;
  /** Where sessions' folders are. */
  readonly folders: string;
  /** What their names begin with. */
  readonly prefix: string;
  readonly proxy: ProxyAccess;
  readonly idleSecs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Throws BROWSER_UNAVAILABLE; then nothing is left of it. */
export async function openAgentSession(options: OpenAgentOptions): Promise<DriverSession> {
  const { clock, signal } = options;
  const folder = await sessionFolder(options.folders, options.prefix);
  const its = program({
    file: options.file,
    env: environment({ ...options, folder }),
    folder: folder.files,
    clock,
  });
  try {
    const rows = await its.batch(START, { signal, timeoutMs: START_TIMEOUT_MS });
    if (!rows.some(({ index, success }) => index === 0 && success)) {
      throw notStarted(rows.find(({ success }) => !success)?.error);
    }
    return agentSession(its, folder, options);
  } catch (error) {
    endSession(folder.name, folder.temporary);
    await folder.remove();
    signal.throwIfAborted();
    if (error instanceof SvcError && error.code === "BROWSER_UNAVAILABLE") throw error;
    throw notStarted(error instanceof SvcError ? error.message : undefined);
  }
}

/**
 * The first starts the browser, as any command does. Of the second: the program would show for all callers on this machine what the
 * browser sees, and take clicks from them.
 */
const START = [
  ["get", "url"],
  ["stream", "disable"],
] as const;

const START_TIMEOUT_MS = 30_000;

const notStarted = (why = "no answer"): SvcError =>
  new SvcError("BROWSER_UNAVAILABLE", "agent-browser could not start Chromium.", {
    hint: "Try the program by hand: agent-browser open about:blank. browser.chromium_path names another Chromium.",
    cause: new Error(why.slice(0, 500)),
  });

/** One browser behind the program. */
export interface AgentSessionOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

function agentSession(its: Program, folder: SessionFolder, { clock, log }: AgentSessionOptions): DriverSession {
  const ended = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  let isStuck = false;
  const page = pageOf(its);

  const close = async (): Promise<void> => {
    stopWatching();
    // The program closes Chromium cleanly; then remaining processes are killed. A stuck page would block that, so skip it.
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

  /** The program goes on with a command although no one waits for it: once it answers something else, that is over. */
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

/**
 * Looks every two seconds how much pages have downloaded, asked for or not: the program sets no limit. Calls `tooMuch` once there
 * is more than a browser may keep. The result stops it.
 */
function watchSize(folder: string, clock: Clock, tooMuch: () => void): () => void {
  let stopped = false;
  let cancel: () => void = () => undefined;
  const look = async (): Promise<void> => {
    const bytes = await sizeOf(folder);
    if (stopped) return;
    if (bytes > MAX_BYTES) return tooMuch();
    cancel = clock.after(EVERY_MS, () => void look());
  };
  cancel = clock.after(EVERY_MS, () => void look());
  return () => {
    stopped = true;
    cancel();
  };
}

const EVERY_MS = 2000;
const MAX_BYTES = 268_435_456;
