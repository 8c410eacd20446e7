import { spawn } from "node:child_process";
import { type Clock, SvcError } from "@svc/contract";
import { runProcess } from "@svc/kit/process";
import { INSTALL } from "./find-agent-browser.ts";

export interface CheckOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The program's version, e.g. `0.41.2`. Throws BROWSER_UNAVAILABLE for another program, and for one that is too old. */
export async function checkVersion(file: string, { clock, signal }: CheckOptions): Promise<string> {
  const { stdout, exitCode } = await runProcess({
    start: (marks) =>
      spawn(file, ["--version"], {
        env: { PATH: process.env["PATH"] ?? "", ...marks },
        stdio: ["ignore", "pipe", "pipe"],
        detached: process.platform !== "win32",
      }),
    stdin: undefined,
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 1000,
    signal,
    graceMs: 500,
    clock,
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new SvcError("BROWSER_UNAVAILABLE", "The program agent-browser can't be started.", { hint: INSTALL, cause });
  });
  const [, version, major, minor] = /^agent-browser ((\d{1,5})\.(\d{1,5})\.\d{1,5}\S{0,30})\s*$/.exec(stdout) ?? [];
  if (exitCode !== 0 || version === undefined) {
    throw new SvcError("BROWSER_UNAVAILABLE", "The program does not tell a version, as agent-browser does.", {
      hint: INSTALL,
    });
  }
  // What is relied on came with it: batch takes commands from its input, and --omit-command.
  if (Number(major) === 0 && Number(minor) < OLDEST_MINOR) {
    throw new SvcError("BROWSER_UNAVAILABLE", `agent-browser is too old: at least 0.${OLDEST_MINOR} is needed.`, {
      hint: "Bring it up to date with npm install -g agent-browser@latest.",
    });
  }
  return version;
}

const OLDEST_MINOR = 41;
const TIMEOUT_MS = 10_000;
