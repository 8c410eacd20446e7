// A change of a pin is a signal once: over kills, lost boards, chatter and hot-plug; and a pin that nobody watches costs nothing.
import { type Capability, SvcError, type TriggerEvent } from "@svc/contract";
import {
  BOARDS,
  type BoardEntry,
  type Boards,
  type Level,
  NATIVE_PINS,
  type NativePins,
  type PinWatch,
} from "@svc/kit/hardware";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { describe, expect, test } from "vitest";
import definition from "../src/index.ts";
import { create } from "../src/peripheral.ts";

featureConformance(definition, {
  root: `${import.meta.dirname}/..`,
  config: { boards: [{ board: "arduino-uno", watch: [{ pin: 2 }] }] },
});

test.each([
  [{}, false],
  [{ boards: [] }, false],
  [{ boards: [{ board: "pico", watch: [] }] }, false],
  [{ boards: [{ board: "pico", watch: [{ pin: 2 }] }] }, true],
  [{ enabled: false, boards: [{ board: "pico", watch: [{ pin: 2 }] }] }, false],
])("%j: it is on: %s", (section, isOn) => expect(definition.when!(section)).toBe(isOn));

const watch = (more: Partial<PinWatch> = {}): PinWatch => ({
  name: "button",
  pin: 2,
  edge: "rising",
  debounceMs: 50,
  pull: "up",
  ...more,
});
const entry = (more: Partial<BoardEntry> = {}): BoardEntry => ({
  alias: "arduino0",
  board: "arduino-uno",
  architecture: undefined,
  transport: "serial",
  path: "/dev/ttyACM0",
  usb: undefined,
  isConnected: true,
  isConfigured: true,
  watch: [watch()],
  ...more,
});

/** Boards whose pins have the levels that a test sets, and a process that follows them. */
function bench({ entries = [entry()], native }: { entries?: BoardEntry[]; native?: NativePins } = {}) {
  const clock = fakeClock();
  const state = memorySecrets();
  const levels = new Map<string, Level>();
  const listeners = new Set<() => void>();
  const world = {
    entries,
    reads: 0,
    analog: 0,
    failure: undefined as unknown,
    started: [] as string[],
    refuse: undefined as unknown,
    fits: true,
  };
  const boards: Boards = {
    list: () => world.entries,
    find: () => world.entries[0]!,
    readPin: async (alias, pin) => {
      world.reads += 1;
      if (world.failure !== undefined) throw world.failure;
      return levels.get(`${alias} ${pin}`) ?? 0;
    },
    readAnalog: async () => {
      world.reads += 1;
      return world.analog;
    },
    writePin: async () => undefined,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const capabilities = <T>({ id }: Capability<T>): readonly T[] =>
    (id === BOARDS.id ? [boards] : id === NATIVE_PINS.id && native ? [native] : []) as unknown as readonly T[];
  const start = () => {
    const context = fakeFeatureContext(undefined, {
      clock,
      state,
      capabilities,
      trigger: async (event: TriggerEvent, more = {}) => {
        if (world.refuse !== undefined) throw world.refuse;
        if (!world.fits) return { fits: false, runs: [], skipped: [] };
        for (const [name, value] of Object.entries(more.state ?? {})) await state.set(name, value);
        world.started.push(`${event.source} ${event.topic} ${event.payload}`);
        return { fits: true, runs: [], skipped: [] };
      },
    });
    const stop = new AbortController();
    const done = create(context).run!(stop.signal);
    return {
      log: context.log,
      async stop() {
        stop.abort();
        await clock.advance(0);
        await done;
      },
    };
  };
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 10) await clock.advance(10);
  };
  return { world, levels, state, pass, start, changed: () => listeners.forEach((listener) => listener()), listeners };
}

describe("a change of a pin", () => {
  test("is a signal when it lasted, once; the first level is none", async () => {
    const { world, levels, pass, start } = bench();
    levels.set("arduino0 2", 1);
    const service = start();
    await pass(1000);
    expect(world.started).toEqual([]);
    levels.set("arduino0 2", 0);
    await pass(500);
    levels.set("arduino0 2", 1);
    await pass(500);
    expect(world.started).toEqual(["peripheral arduino0/button 1"]);
    await service.stop();
  });

  test.each([
    ["rising", ["1", "1"]],
    ["falling", ["0", "0"]],
    ["both", ["1", "0", "1", "0"]],
  ] as const)("counts by its edge: %s", async (edge, payloads) => {
    const { world, levels, pass, start } = bench({ entries: [entry({ watch: [watch({ edge })] })] });
    const service = start();
    await pass(500);
    for (const level of [1, 0, 1, 0] as const) {
      levels.set("arduino0 2", level);
      await pass(500);
    }
    expect(world.started).toEqual(payloads.map((payload) => `peripheral arduino0/button ${payload}`));
    await service.stop();
  });

  test("that is gone before it counts is none", async () => {
    const { world, levels, pass, start } = bench({ entries: [entry({ watch: [watch({ debounceMs: 1000 })] })] });
    const service = start();
    await pass(500);
    for (let count = 0; count < 20; count += 1) {
      levels.set("arduino0 2", count % 2 === 0 ? 1 : 0);
      await pass(300);
    }
    expect(world.started).toEqual([]);
    await service.stop();
  });

  test("after a kill is not a signal again, and one that came meanwhile is", async () => {
    const { world, levels, pass, start } = bench();
    const first = start();
    await pass(500);
    levels.set("arduino0 2", 1);
    await pass(500);
    await first.stop();
    const second = start();
    await pass(1000);
    expect(world.started).toHaveLength(1);
    levels.set("arduino0 2", 0);
    await pass(500);
    await second.stop();
    levels.set("arduino0 2", 1);
    const third = start();
    await pass(1000);
    expect(world.started).toHaveLength(2);
    await third.stop();
  });

  test("that could not be stored is dealt with again", async () => {
    const { world, levels, pass, start } = bench();
    const service = start();
    await pass(500);
    world.refuse = new SvcError("STORE_FULL");
    levels.set("arduino0 2", 1);
    await pass(1000);
    expect(world.started).toEqual([]);
    world.refuse = undefined;
    await pass(5000);
    expect(world.started).toEqual(["peripheral arduino0/button 1"]);
    expect(service.log.text()).toContain("can't be read; will try again");
    await service.stop();
  });

  test("that no procedure waits for is kept as seen", async () => {
    const { world, levels, state, pass, start } = bench();
    const service = start();
    await pass(500);
    world.fits = false;
    levels.set("arduino0 2", 1);
    await pass(500);
    expect(await state.get("level/arduino0/button")).toBe("1");
    await service.stop();
  });
});

test("a reading of an analog pin is a signal once it passes its threshold, and not again while it chatters there", async () => {
  const analog = { above: 600, hysteresis: 50 };
  const { world, pass, start } = bench({
    entries: [entry({ watch: [watch({ edge: "both", analog, pull: undefined })] })],
  });
  const service = start();
  for (const reading of [100, 599, 600, 580, 610, 551, 549, 599, 700]) {
    world.analog = reading;
    await pass(500);
  }
  const signals = ["1", "0", "1"].map((level) => `peripheral arduino0/button ${level}`);
  expect(world.started).toEqual(signals);
  await service.stop();
  // After a restart too, what is within the hysteresis is what it was.
  world.analog = 560;
  const again = start();
  await pass(1000);
  world.analog = 650;
  await pass(1000);
  expect(world.started).toEqual(signals);
  await again.stop();
});

test("a board that is lost is tried again, with one line in the log, and works when it is back", async () => {
  const { world, levels, pass, start } = bench();
  const service = start();
  await pass(500);
  world.failure = new SvcError("TOOL_FAILED", "arduino0 is not connected.");
  await pass(120_000);
  expect(world.reads).toBeLessThan(30);
  expect(service.log.lines.filter(({ message }) => message.includes("can't be read"))).toHaveLength(1);
  world.failure = undefined;
  levels.set("arduino0 2", 1);
  await pass(70_000);
  expect(world.started).toEqual(["peripheral arduino0/button 1"]);
  expect(service.log.text()).toContain("answers again");
  await service.stop();
});

test("a storm of hot-plug starts no second loop for a pin, and ends those of boards that are gone", async () => {
  const { world, pass, start, changed, listeners } = bench({ entries: [] });
  const service = start();
  await pass(100);
  for (let count = 0; count < 200; count += 1) {
    world.entries = count % 2 === 0 ? [entry(), entry({ alias: "pico0", isConfigured: false })] : [];
    changed();
    await pass(10);
  }
  expect(listeners.size).toBeLessThanOrEqual(1);
  world.entries = [entry()];
  changed();
  await pass(200);
  const before = world.reads;
  await pass(1000);
  expect(world.reads - before).toBeLessThanOrEqual(11);
  world.entries = [];
  changed();
  await pass(200);
  const after = world.reads;
  await pass(1000);
  expect(world.reads).toBe(after);
  await service.stop();
});

test("pins of this computer are watched by the kernel's edges, not asked", async () => {
  const seen: unknown[] = [];
  const native: NativePins = {
    alias: "rpi0",
    board: "raspberry-pi-4",
    readPin: async () => 0,
    writePin: async () => undefined,
    async *watchPin(one, signal) {
      seen.push(one);
      yield 0;
      yield 1;
      yield 0;
      yield 1;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
  };
  const entries = [entry({ alias: "rpi0", transport: "native", path: undefined, watch: [watch({ pin: 17 })] })];
  const { world, pass, start } = bench({ entries, native });
  const service = start();
  await pass(100);
  expect(seen).toEqual([watch({ pin: 17 })]);
  expect(world.started).toEqual(["peripheral rpi0/button 1", "peripheral rpi0/button 1"]);
  expect(world.reads).toBe(0);
  await service.stop();
});
