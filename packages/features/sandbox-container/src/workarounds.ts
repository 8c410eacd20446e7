/** What podman and docker need on some machines, told by the words with which they fail. Nothing of it is used unless they do. */
import { readFile } from "node:fs/promises";
import { findProgram } from "@svc/kit/process";
import type { Engine } from "./engine.ts";

export interface Workarounds {
  /** Options before `run`. */
  readonly globals: readonly string[];
  readonly options: readonly string[];
  /** Control groups can't be made: memory and processes are not limited. */
  readonly noGroups: boolean;
  /** The kernel does not count swapped memory. */
  readonly noSwapLimit: boolean;
}

export const PLAIN: Workarounds = { globals: [], options: [], noGroups: false, noSwapLimit: false };

/** What to try next; undefined: nothing more. */
export async function nextTry(said: string, engine: Engine, now: Workarounds): Promise<Workarounds | undefined> {
  // Without CAP_SYS_RESOURCE no limit can be raised to what the engine takes for its default.
  if (/rlimit/i.test(said) && now.options.length === 0) return { ...now, options: await ownLimits() };
  // crun does not know systems with both versions of control groups.
  if (/crun|hybrid mode/i.test(said) && engine.name === "podman" && now.globals.length === 0) {
    if (await findProgram("runc", engine.env["PATH"])) return { ...now, globals: ["--runtime=runc"] };
  }
  if (/swap|memsw/i.test(said) && !now.noSwapLimit) return { ...now, noSwapLimit: true };
  if (/cgroup|controller|pids limit|memory limit|resource limits/i.test(said) && !now.noGroups)
    return { ...now, noGroups: true };
  return undefined;
}

/** At most the hard limits that the daemon has itself, proc_pid_limits(5), and a little less: podman gives some of its own away. */
async function ownLimits(): Promise<string[]> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const upTo = (most: number, name: string): number => {
    const hard = Number(new RegExp(`^${name} +\\S+ +([0-9]+)`, "m").exec(text)?.[1] ?? Infinity);
    return Math.min(most, hard);
  };
  const [files, processes] = [upTo(65_536, "Max open files"), upTo(30_000, "Max processes")];
  return [`--ulimit=nofile=${files}:${files}`, `--ulimit=nproc=${processes}:${processes}`];
}
