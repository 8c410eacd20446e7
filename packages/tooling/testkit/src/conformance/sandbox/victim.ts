/** A process outside of the sandbox, of the same user, for a hostile command to do something to. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Who } from "./subject.ts";

export interface Victim extends AsyncDisposable {
  readonly pid: number;
  /** Whether nothing has killed it. */
  isAlive(): boolean;
}

/** Its environment holds `SECRET`. */
export async function victimOf({ user }: Who, secret: string): Promise<Victim> {
  // The end of its input ends it: nothing is left when the test dies.
  const child: ChildProcess = spawn("/bin/sh", ["-c", "echo up; read line"], {
    env: { PATH: "/usr/bin:/bin", SECRET: secret },
    stdio: ["pipe", "pipe", "ignore"],
    ...user,
  });
  const ended = once(child, "exit");
  await once(child.stdout!, "data");
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid!,
    isAlive,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
