/** What the process that started this one left open or allowed. Nothing of it may reach a command, a page or a file on disk. */
import { closeSync, readFileSync } from "node:fs";
import { inheritableDescriptors } from "@svc/kit/descriptors";

/** Call it before anything opens a descriptor of its own. `words`: the command line. */
export async function shedInherited(words: readonly string[]): Promise<void> {
  for (const fd of inheritableDescriptors()) {
    if (!words.some((word) => isNamed(fd, word))) closeSync(fd);
  }
  if (writesCoreFiles()) await forbidCoreFiles();
}

/** `svc restore <(…)`: the shell hands over the number of a pipe. */
const isNamed = (fd: number, word: string): boolean =>
  [`/dev/fd/${fd}`, `/proc/self/fd/${fd}`].some((path) => word === path || word.endsWith(`=${path}`));

/**
 * The memory of this process holds secrets. Node can't call setrlimit(2); prlimit(1) of util-linux changes the limit of its parent,
 * and every process that this one starts has it too. Where it is missing, `svc doctor` tells that core files are written.
 */
async function forbidCoreFiles(): Promise<void> {
  const { execFileSync } = await import("node:child_process");
  try {
    execFileSync("prlimit", [`--pid=${process.pid}`, "--core=0:0"], { stdio: "ignore", env: { PATH: PROGRAMS } });
  } catch {
    // not installed: doctor's finding says what to do
  }
}

const PROGRAMS = "/usr/local/bin:/usr/bin:/bin";

function writesCoreFiles(): boolean {
  try {
    // The soft limit is what counts.
    return !/^Max core file size\s+0\s/m.test(readFileSync("/proc/self/limits", "latin1"));
  } catch {
    return false; // no /proc: another system
  }
}
