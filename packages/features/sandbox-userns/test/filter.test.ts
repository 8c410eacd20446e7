// The filter that bwrap installs, run as the kernel runs it, on both architectures.
import {
  ALLOW,
  type Architecture,
  instructionsOf,
  KILL_PROCESS,
  refuse,
  type Syscall,
  syscallsOf,
} from "@svc/kit/seccomp";
import { type FilteredCall, runFilter } from "@svc/testkit/run-filter";
import { describe, expect, test } from "vitest";
import { filterHere, POLICY } from "../src/launch.ts";

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const EPERM = refuse(1);

describe.each(["x64", "arm64"] as const)("%s", (arch: Architecture) => {
  const numbers = syscallsOf(arch);
  const program = instructionsOf(POLICY, arch);
  const judge = (name: Syscall, args: FilteredCall["args"] = []): number =>
    runFilter(program, { arch: AUDIT[arch], number: numbers[name]!, args });

  test("what is refused is refused, whatever its arguments", () => {
    for (const name of POLICY.refused) expect(judge(name, [0, -1, 0n])).toBe(EPERM);
    expect(judge("clone3")).toBe(refuse(38));
  });

  test("a call of another architecture ends the process", () => {
    expect(runFilter(program, { arch: 0x40000003, number: 1 })).toBe(KILL_PROCESS);
  });

  test("clone makes processes and threads, and no namespace, whatever is in the half that the kernel does not read", () => {
    expect(judge("clone", [17])).toBe(ALLOW);
    for (const bit of [17, 25, 26, 27, 28, 29, 30]) expect(judge("clone", [2 ** bit + 17])).toBe(EPERM);
    expect(judge("clone", [(1n << 40n) | (1n << 28n)])).toBe(EPERM);
  });

  test("a terminal is not typed into", () => {
    expect(judge("ioctl", [0, 0x5412])).toBe(EPERM);
    expect(judge("ioctl", [0, 0x541c])).toBe(EPERM);
    expect(judge("ioctl", [0, 0x5413])).toBe(ALLOW);
  });

  test("sockets are local, of the internet, or of routes", () => {
    const families = Array.from({ length: 64 }, (_, family) => family);
    expect(families.filter((family) => judge("socket", [family]) === ALLOW)).toEqual([1, 2, 10, 16]);
  });
});

test("where the numbers of system calls are not known there is no filter, and no sandbox", () => {
  expect(() => filterHere("riscv64")).toThrow(expect.objectContaining({ code: "SANDBOX_UNAVAILABLE" }));
});
