// A plugin that wants all the memory there is gets none of the service's, and little of the machine's.
import { fakeClock } from "@svc/testkit/fake-clock";
import { afterAll, expect, it } from "vitest";
import { watchMemory } from "../src/plugin-process.ts";
import { gcArrays } from "./running/gc-arrays.ts";
import { pluginRoom } from "./running/plugin-room.ts";
import { ECHO, pluginWat } from "./running/wat.ts";

const room = pluginRoom();
afterAll(() => room[Symbol.dispose]());

const ONLY_LINUX = "elsewhere the kernel bounds no memory and tells nobody what a process has";

it("a module's memory grows no further than its limit, and the module is told", async () => {
  // Grows by a page until it can't, and gives a character for the number of MiB it has then: "@" is 64, so that 16 are "P".
  const plugin = await room.plugin(
    pluginWat(
      `(local $block i64)
       (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
       (local.set $block (call $alloc (i64.const 1)))
       (call $store_u8 (local.get $block) (i32.add (i32.const 64) (i32.div_u (memory.size) (i32.const 16))))
       (call $output_set (local.get $block) (i64.const 1))`,
      { memory: "(memory 1 60000)" },
    ),
  );
  expect([await room.call(plugin), await room.call(plugin)]).toEqual(["P", "P"]);
});

it("a table grows no further than its limit", async () => {
  const plugin = await room.plugin(
    pluginWat(
      `(if (i32.eq (table.grow $t (ref.null func) (i32.const 100000)) (i32.const -1)) (then unreachable))
       (if (i32.ne (table.grow $t (ref.null func) (i32.const 100001)) (i32.const -1)) (then unreachable))`,
      { before: "(table $t 0 funcref)" },
    ),
  );
  expect(await room.call(plugin)).toMatch(/no output/);
});

it("what is freed can be had again, however often", async () => {
  const plugin = await room.plugin(
    pluginWat(
      `(local $i i32)
       (loop $more (call $free (call $alloc (i64.const 9000000)))
         (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 50))))`,
    ),
  );
  expect(await room.call(plugin)).toMatch(/no output/);
});

it("many calls with much memory each end no process", async () => {
  using own = pluginRoom();
  const plugin = await own.plugin(
    pluginWat(
      `(memory.fill (i32.const 0) (i32.const 1) (i32.const 16777216))
       (call $output_set (call $input_offset) (call $input_length))`,
      { memory: "(memory 256)" },
    ),
  );
  for (let call = 0; call < 100; call += 1) {
    expect(await own.call(plugin, "still here")).toBe("still here");
    await own.clock.advance(100);
  }
});

it("memory that is no module's ends the process by the kernel's limit", async ({ skip }) => {
  skip(process.platform !== "linux", ONLY_LINUX);
  const plugin = await room.plugin(gcArrays(1_000_000));
  await expect(room.call(plugin)).rejects.toMatchObject({
    code: "TOOL_FAILED",
    message: expect.stringMatching(/came to an end before the call did/),
  });
  const next = await room.plugin(ECHO, { name: plugin.name });
  expect(await room.call(next, "on")).toBe("on");
});

it("and below that by whoever watches it from outside", async ({ skip }) => {
  skip(process.platform !== "linux", ONLY_LINUX);
  using own = pluginRoom();
  const plugin = await own.plugin(gcArrays(300), {
    limits: { memoryMb: 16, timeoutMs: 86_400_000, maxOutputBytes: 100 },
  });
  const ends: unknown[] = [];
  const called = own.call(plugin).catch((error: unknown) => ends.push(error));
  // Time goes on only as far as the watch looks, which is real work each time.
  while (ends.length === 0) {
    await own.clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await called;
  expect(ends[0]).toMatchObject({ code: "TOOL_FAILED", message: expect.stringMatching(/more memory than it may/) });
});

it("the watch leaves alone who is below the limit, and ends when it is told", async ({ skip }) => {
  skip(process.platform !== "linux", ONLY_LINUX);
  const clock = fakeClock();
  const told: string[] = [];
  const stop = watchMemory(process.pid, 1e12, clock, () => told.push("large"));
  watchMemory(process.pid, 1, clock, () => told.push("small"));
  while (told.length === 0) await clock.advance(100);
  stop();
  expect(told).toEqual(["small"]);
  while (clock.waiting > 0) await clock.advance(100);
});
