import { type Clock, type Logger, SvcError } from "@svc/contract";
import type { DriverSession, ProxyAccess } from "@svc/kit/browser";
import { program } from "../program/batch.ts";
import { agentSession } from "./agent-session.ts";
import { environment } from "./environment.ts";
import { endSession } from "../keeper/left-overs.ts";
import { sessionFolder } from "./session-folder.ts";

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
 * The first starts the browser, as any command does. Of the second: the program would show whoever asks on this machine what the
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
