// OpenOCD is started for a reading and is gone after it: when it works, ends, hangs, or is called off. The real program without an adapter
// says what it says, and nothing of it stays; with a simulated one it reads the chip.
import { fakeClock } from "@svc/testkit/fake-clock";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { findProgram } from "@svc/kit/process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startOpenOcd } from "../src/target.ts";
import { probeFor } from "./feature.ts";
import { nucleoMemory } from "./gdb-server.ts";
import { startJtagChip } from "./jtag-chip.ts";

const INPUT = { address: 0x2000_0000, length: 16, board: "nucleo-f401re" };

/** The fake with this script. */
function fake(name: string) {
  const home = temporaryHome();
  onTestFinished(() => home.remove());
  const program = join(home.path, "openocd");
  const file = join(import.meta.dirname, "fake-openocd.ts");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`, { mode: 0o755 });
  const script = join(home.path, name);
  const pid = (): number | undefined =>
    existsSync(`${script}.pid`) ? Number(readFileSync(`${script}.pid`, "utf8") || 0) || undefined : undefined;
  return {
    program,
    script,
    async started(): Promise<void> {
      while (pid() === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    isRunning(): boolean {
      try {
        return process.kill(pid()!, 0);
      } catch {
        return false;
      }
    },
  };
}

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

test("memory is read through it, one session after the other, and it ends each time", async () => {
  const openocd = fake("works");
  const probe = probeFor(openocd);
  const read = Array.from({ length: 2 }, () => probe.read(INPUT));
  const expected = Array.from({ length: 16 }, (_one, at) => (at * 7).toString(16).padStart(2, "0")).join(" ");
  expect(await Promise.all(read)).toMatchObject([0, 1].map(() => ({ bytes: `0x20000000: ${expected}` })));
  expect(openocd.isRunning()).toBe(false);
});

test("one that finds no adapter is told with what it said, and how to go on", async () => {
  const openocd = fake("finds-no-adapter");
  expect(await failureOf(probeFor(openocd).read(INPUT))).toMatchObject({
    code: "REMOTE_UNREACHABLE",
    message: "openocd ended (exit code 1): open [2J failed.",
    hint: expect.stringContaining(`openocd -f ${openocd.script}`) as unknown,
  });
});

test("one that ends in the middle of a reading fails that reading", async () => {
  const openocd = fake("ends-in-the-middle");
  expect(await failureOf(probeFor(openocd).read(INPUT))).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  expect(openocd.isRunning()).toBe(false);
});

test("one that never listens is given up after 10 s, and killed where it does not end", async () => {
  const openocd = fake("never-listens-and-never-ends");
  const clock = fakeClock();
  const failed = failureOf(startOpenOcd({ ...openocd, clock, signal: new AbortController().signal }));
  await openocd.started();
  await clock.advance(9999);
  expect(openocd.isRunning()).toBe(true);
  const state = { hasEnded: false };
  void failed.then(() => (state.hasEnded = true));
  while (!state.hasEnded) await clock.advance(100);
  expect(await failed).toMatchObject({ code: "REMOTE_TIMEOUT", message: "openocd found no chip within 10 s." });
  expect(openocd.isRunning()).toBe(false);
});

test("a call that is called off ends it", async () => {
  const openocd = fake("never-listens");
  const calledOff = new AbortController();
  const failed = failureOf(probeFor(openocd).read(INPUT, calledOff.signal));
  await openocd.started();
  calledOff.abort(new Error("called off"));
  expect(await failed).toMatchObject({ message: "called off" });
  expect(openocd.isRunning()).toBe(false);
});

test("a program that can't be started is told", async () => {
  const home = temporaryHome();
  onTestFinished(() => home.remove());
  const program = join(home.path, "openocd");
  expect(await failureOf(probeFor({ program, script: "board" }).read(INPUT))).toMatchObject({
    code: "REMOTE_UNREACHABLE",
    message: "openocd could not be started (ENOENT).",
  });
});

const ABSENT = { name: "openocd", tier: "B", reason: "not on PATH; apt-get install openocd" } as const;

test("the real program reads a chip at the wires of an adapter, and writes nothing", async (context) => {
  const program = await findProgram("openocd");
  if (program === undefined) requireReal(context, ABSENT);
  const memory = nucleoMemory();
  await using chip = await startJtagChip(memory);
  const home = temporaryHome();
  onTestFinished(() => home.remove());
  const script = join(home.path, "chip.cfg");
  writeFileSync(
    script,
    `adapter driver remote_bitbang
remote_bitbang host 127.0.0.1
remote_bitbang port ${chip.port}
transport select jtag
jtag newtap chip cpu -irlen 4 -expected-id 0x4ba00477
dap create chip.dap -chain-position chip.cpu
target create chip.memory mem_ap -dap chip.dap -ap-num 0 -gdb-port [string trim [gdb_port]]
`,
  );
  const probe = probeFor({ program, script });
  const read = (await probe.read({ address: 0x2000_0101, length: 40 })) as { chip: string; bytes: string };
  expect(read.chip).toBe("STM32F401RE");
  const hex = read.bytes.replaceAll(/0x[\da-f]{8}: |\s/g, "");
  expect(hex).toBe(Buffer.from(memory.get(0x2000_0000)!.subarray(0x101, 0x129)).toString("hex"));
  expect(await probe.chip.read(undefined, new AbortController().signal)).toMatchObject({
    isIdentified: true,
    memory: [{ name: "flash", bytes: 524_288, isLive: true }, { name: "RAM" }],
  });
  expect(chip.writes).toEqual([]);
});

test("the real program without an adapter", async (context) => {
  const program = await findProgram("openocd");
  if (program === undefined) requireReal(context, ABSENT);
  const failed = await failureOf(probeFor({ program, script: "board/st_nucleo_f4.cfg" }).read(INPUT));
  expect(failed).toMatchObject({
    code: "REMOTE_UNREACHABLE",
    message: expect.stringMatching(/^openocd ended \(exit code 1\): .+/) as unknown,
  });
});
