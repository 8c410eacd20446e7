// Each shell closes numbers its own way: dash knows none of two digits, and takes one for the name of a program.
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { findProgram, withoutDescriptors } from "../src/process/index.ts";

/** What `sh -c` says when it runs with a file open at 3, 7, 9, 20 and 300. */
function said(shell: readonly [string, ...string[]], script: string): { stdout: string; status: number | null } {
  const fd = openSync(import.meta.filename, "r");
  try {
    const files = Array.from({ length: 298 }, (_, at) => ([3, 7, 9, 20, 300].includes(at + 3) ? fd : "ignore"));
    const stdio = ["ignore", "pipe", "pipe", ...files] as const;
    const [program, ...words] = shell;
    const args = [...words, "-c", script, "zero", "one two", "three"];
    const { stdout, status } = spawnSync(program, args, {
      stdio: [...stdio],
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin" },
    });
    return { stdout, status };
  } finally {
    closeSync(fd);
  }
}

const OPEN = `for fd in 3 7 9 20 300; do case $(readlink /proc/self/fd/$fd) in */descriptors.e2e.test.ts) printf "$fd " ;; esac; done; echo "$0|$1|$2"`;

test.for([["dash"], ["bash"], ["busybox", "sh"]] as [string, ...string[]][])(
  "%s closes all but those to keep, and its arguments stay",
  async (shell, context) => {
    context.skip(process.platform !== "linux", "looks into /proc");
    context.skip((await findProgram(shell[0])) === undefined, `${shell[0]} is not installed`);
    expect(said(shell, OPEN)).toEqual({ stdout: "3 7 9 20 300 zero|one two|three\n", status: 0 });
    expect(said(shell, withoutDescriptors(OPEN))).toEqual({ stdout: "zero|one two|three\n", status: 0 });
    expect(said(shell, withoutDescriptors(OPEN, [7]))).toEqual({ stdout: "7 zero|one two|three\n", status: 0 });
    expect(said(shell, withoutDescriptors("exit 3")).status).toBe(3);
  },
);
