/** Starts the process of a plugin, with as little as the operating system lets us give it. */
import { type ChildProcess, spawn } from "node:child_process";

/** `command`: of `FeatureContext.child`. `memoryMb`: what the plugin's module may have. */
export function launch(command: readonly [string, ...string[]], memoryMb: number): ChildProcess {
  const [file, ...args] = process.platform === "win32" ? command : confined(command, memoryMb);
  return spawn(file, args, {
    cwd: "/",
    env: environment(),
    // Its errors are told in frames; what the engine prints when it breaks is for nobody. The last is the lifeline.
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    windowsHide: true,
  });
}

/** Windows starts no program without it. */
function environment(): Record<string, string> {
  const { SystemRoot: root } = process.env;
  return process.platform === "win32" && root ? { SystemRoot: root } : {};
}

/**
 * Limits of the kernel: no file is written, no core is dumped, and memory ends before the machine's does. A limit that is
 * lower already stays.
 */
function confined(command: readonly [string, ...string[]], memoryMb: number): [string, ...string[]] {
  const dataKb = (RESERVED_MB + 2 * memoryMb) * 1024;
  const limits = ["-c 0", "-f 0", "-s 8192", `-d ${dataKb}`].map((limit) => `ulimit ${limit} 2>/dev/null;`).join(" ");
  return ["/bin/sh", "-c", `${limits} exec "$@"`, "sh", ...command];
}

/**
 * The kernel counts what the engine sets aside for code, half a GiB for each of the two threads that run any, and the stacks
 * of all. About 400 MB of it are left to be used: a wide limit, for what is faster than the service that watches from outside.
 */
const RESERVED_MB = 1536;
