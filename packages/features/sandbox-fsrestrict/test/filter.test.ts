// A filter with one wrong jump lets a call through, or stops every program: it is run here as the kernel would run it.
import { describe, expect, test } from "vitest";
import {
  ALLOW,
  type Architecture,
  filterOf,
  instructionsOf,
  KILL_PROCESS,
  NEWEST_SYSCALL,
  refuse,
  type Syscall,
  syscallsOf,
} from "@svc/kit/seccomp";
import { type FilteredCall, runFilter } from "@svc/testkit/run-filter";
import { REFUSED, UNKNOWN, policyOf } from "../src/child/seccomp/filter.ts";

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const EPERM = refuse(1);
const ENOSYS = refuse(38);

describe.each(["x64", "arm64"] as const)("%s", (arch: Architecture) => {
  const numbers = syscallsOf(arch);
  const off = instructionsOf(policyOf(false), arch);
  const on = instructionsOf(policyOf(true), arch);
  const judge = (name: Syscall, args: FilteredCall["args"] = [], program = off): number | undefined =>
    numbers[name] === undefined ? undefined : runFilter(program, { arch: AUDIT[arch], number: numbers[name], args });
  const among = (verdict: number): readonly (number | undefined)[] => [verdict, undefined];

  test("its instructions fit what the kernel takes", () => {
    expect(filterOf(policyOf(false), arch).byteLength).toBe(off.length * 8);
    expect(Math.max(...[...off, ...on].map(({ jt, jf }) => Math.max(jt, jf)))).toBeLessThanOrEqual(255);
  });

  test("a call of another architecture ends the process", () => {
    const others = [AUDIT.x64, AUDIT.arm64, 0x40000003, 0x40000028].filter((each) => each !== AUDIT[arch]);
    for (const other of others) expect(runFilter(off, { arch: other, number: 1 })).toBe(KILL_PROCESS);
  });

  test("what is refused is refused, and what nobody has heard of is unknown", () => {
    for (const name of REFUSED) expect(among(EPERM)).toContain(judge(name));
    for (const name of UNKNOWN) expect(among(ENOSYS)).toContain(judge(name));
    expect(runFilter(off, { arch: AUDIT[arch], number: NEWEST_SYSCALL + 1 })).toBe(ENOSYS);
    // x32: the same calls with a bit set
    const x32 = runFilter(off, { arch: AUDIT[arch], number: 0x4000_0000 + numbers.socket! });
    expect(x32).toBe(arch === "x64" ? EPERM : ENOSYS);
    expect([EPERM, ENOSYS]).toContain(runFilter(off, { arch: AUDIT[arch], number: -1 }));
  });

  test("every other call goes through", () => {
    const named = new Set(Object.values(numbers));
    const unnamed = Array.from({ length: NEWEST_SYSCALL + 1 }, (_, number) => number).filter(
      (each) => !named.has(each),
    );
    for (const number of unnamed) expect(runFilter(off, { arch: AUDIT[arch], number })).toBe(ALLOW);
    for (const name of ["prctl", "fcntl", "capset", "setresuid", "seccomp", "landlock_restrict_self"] as const) {
      expect(judge(name)).toBe(ALLOW);
    }
  });

  test("no socket with the network off; with it on those of the internet, and never a local one", () => {
    for (let family = 0; family < 64; family += 1) {
      expect(judge("socket", [family, 1, 0])).toBe(EPERM);
      const internet = family === 2 || family === 10 || family === 16;
      expect(judge("socket", [family, 1, 0], on)).toBe(internet ? ALLOW : EPERM);
    }
    expect(judge("socket", [16, 3, 9], on), "netlink, but not the routes").toBe(EPERM);
    expect(judge("socket", [0x1_0000_0001n, 1, 0], on), "only the low half counts").toBe(EPERM);
  });

  test.each([
    ["a pair of streams", [1, 1], ALLOW],
    ["of streams, closed on exec", [1, 1 | 0o2000000], ALLOW],
    ["of packets", [1, 5], ALLOW],
    ["of datagrams, which can be connected elsewhere", [1, 2], EPERM],
    ["of raw ones", [1, 3], EPERM],
    ["of another family", [30, 1], EPERM],
  ])("socketpair: %s", (_name, args, verdict) => {
    for (const program of [off, on]) expect(judge("socketpair", args, program)).toBe(verdict);
  });

  test("clone makes processes and threads, and no namespace", () => {
    expect(judge("clone", [17])).toBe(ALLOW);
    expect(judge("clone", [0x3d0f00])).toBe(ALLOW);
    for (const flag of [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(judge("clone", [flag | 17])).toBe(EPERM);
      expect(judge("clone", [0xffff_ffff_0000_0000n | BigInt(flag)])).toBe(EPERM);
    }
  });

  test("a terminal is not typed into, whatever is in the half that the kernel does not read", () => {
    for (const request of [0x5412, 0x541c, 0xffff_ffff_0000_5412n]) expect(judge("ioctl", [0, request])).toBe(EPERM);
    expect(judge("ioctl", [0, 0x5401])).toBe(ALLOW);
  });

  test("limits: one's own may be asked for and lowered, but for the mark", () => {
    expect(judge("prlimit64", [0, 7, 4096, 0])).toBe(ALLOW);
    expect(judge("prlimit64", [0, 10, 0, 4096])).toBe(ALLOW);
    expect(judge("prlimit64", [0, 10, 4096, 0])).toBe(EPERM);
    expect(judge("prlimit64", [0, 10, 0x7f00_0000_0000n, 0])).toBe(EPERM);
    expect(judge("prlimit64", [1234, 7, 4096, 0])).toBe(EPERM);
    expect(judge("setrlimit", [10, 4096])).toBe(EPERM);
    expect(judge("setrlimit", [7, 4096])).toBe(ALLOW);
  });

  test("nobody else is scheduled", () => {
    for (const name of ["sched_setaffinity", "sched_setscheduler", "sched_setattr", "migrate_pages"] as const) {
      expect(judge(name, [0])).toBe(ALLOW);
      expect(judge(name, [1234])).toBe(EPERM);
    }
    expect([judge("setpriority", [0, 0]), judge("setpriority", [0, 7]), judge("setpriority", [2, 0])]).toEqual([
      ALLOW,
      EPERM,
      EPERM,
    ]);
    expect([judge("ioprio_set", [1, 0]), judge("ioprio_set", [1, 7]), judge("ioprio_set", [3, 0])]).toEqual([
      ALLOW,
      EPERM,
      EPERM,
    ]);
  });

  test("no set-user-ID file is made, by any way that has a mode", () => {
    const modes: readonly (readonly [Syscall, (mode: number) => readonly number[]])[] = [
      ["chmod", (mode) => [0, mode]],
      ["fchmod", (mode) => [3, mode]],
      ["fchmodat", (mode) => [-100, 0, mode]],
      ["fchmodat2", (mode) => [-100, 0, mode]],
      ["mknodat", (mode) => [-100, 0, mode]],
      ["creat", (mode) => [0, mode]],
      ["open", (mode) => [0, 0o101, mode]],
      ["openat", (mode) => [-100, 0, 0o101, mode]],
      ["openat", (mode) => [-100, 0, 0o20200002, mode]],
    ];
    for (const [name, args] of modes) {
      expect(among(ALLOW)).toContain(judge(name, args(0o755)));
      expect(among(ALLOW)).toContain(judge(name, args(0o1777)));
      for (const mode of [0o4755, 0o2755, 0o6000]) expect(among(EPERM)).toContain(judge(name, args(mode)));
    }
    // Without a file to make there is no mode: what lies in its place means nothing.
    expect(judge("openat", [-100, 0, 0o200000, 0o6000])).toBe(ALLOW);
  });
});
