/**
 * Ends in time whatever hangs. A disk that does not answer holds the thread that asked, and with it the process: even
 * `process.exit` waits. So the checks run in a process of their own, which tells each result at once and is killed when the
 * time is up.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { systemClock } from "@svc/kit/system-clock";
import { error, type Finding, findingsIn, type Progress, unchecked } from "./finding.ts";
import { DOCTOR_PART, selfCommand } from "../binary/self-command.ts";

/** Five seconds at most, for the process's own start and end too. */
const ALL_MS = 4000;

export interface ChecksToRun {
  readonly security: boolean;
  /** The config that the checks read. Default: the daemon's, else the home's. */
  readonly config: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Findings in the order of the checks, one at least for each that did not end. Never rejects. */
export async function superviseChecks({ security, config, env }: ChecksToRun): Promise<Finding[]> {
  const { file, args } = selfCommand();
  const words = ["doctor", ...(security ? ["--security"] : []), ...(config ? [`--config=${config}`] : [])];
  const child = spawn(file, [...args, ...words], {
    env: { ...env, [DOCTOR_PART]: "1" },
    stdio: ["ignore", "pipe", "inherit"],
    // A group of its own: what a check has started is killed with it.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const enough = Promise.withResolvers<void>();
  const cancel = systemClock.after(ALL_MS, enough.resolve);
  process.once("SIGINT", enough.resolve).once("SIGTERM", enough.resolve);
  try {
    return await collect(child, enough.promise);
  } finally {
    cancel();
    process.off("SIGINT", enough.resolve).off("SIGTERM", enough.resolve);
    letGo(child);
  }
}

async function collect(child: ChildProcess, enough: Promise<void>): Promise<Finding[]> {
  const found = new Map<string, Finding[]>();
  let ids: readonly string[] = [];
  const failed = new Promise<void>((resolve) => child.once("error", () => resolve()));
  const read = async (): Promise<void> => {
    for await (const line of createInterface({ input: child.stdout! })) {
      const progress = progressIn(line);
      if (progress?.type === "checks") ids = progress.ids;
      else if (progress) found.set(progress.id, findingsIn(progress.findings));
    }
  };
  await Promise.race([read(), failed, enough]);
  if (ids.length === 0)
    return [error("doctor", "The checks could not be started.", "svc doctor, as the user that runs the daemon")];
  return ids.flatMap((id) => found.get(id) ?? [unchecked(id)]);
}

/** Undefined: half a line, as a process that ends in the middle of one leaves it. */
function progressIn(line: string): Progress | undefined {
  try {
    return JSON.parse(line) as Progress;
  } catch {
    return undefined;
  }
}

/** Ends it and waits for nothing: what hangs in the kernel does not even die, and holds its end of the pipe. */
function letGo(child: ChildProcess): void {
  child.stdout?.destroy();
  child.unref();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}
