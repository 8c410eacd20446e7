// A reload makes changed features beside the running ones: all of them or none, and two loops of one feature never meet.
import { type Contributions, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { type EnabledFeature, currentScope, inScope } from "../src/index.ts";
import { settled } from "./fake-clock.ts";
import { feature, lifecycleOf, neverAborted, tool } from "./fake-features.ts";

const calls: string[] = [];
const heard = (): string[] => calls.splice(0);

/** Tells on `calls` what happens to it, with the config it was made with. */
const part = (id: string, more: (config: string) => Contributions = () => ({})) =>
  feature(id, (context) => {
    const config = context.config as unknown as string;
    const say = (what: string): void => void calls.push(`${id}(${config}) ${what}`);
    return {
      register: async () => say("registers"),
      run: async (signal) => {
        say("runs");
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        say("stops");
      },
      shutdown: async () => say("ends"),
      ...more(config),
    };
  });

const on = (...pairs: [ReturnType<typeof part>, string][]): EnabledFeature[] =>
  pairs.map(([definition, config]) => ({ definition, config: config as never }));
const all = () => true;
const none = () => false;

async function running(enabled: EnabledFeature[], definitions = enabled.map(({ definition }) => definition)) {
  const made = lifecycleOf(definitions, { enabled });
  await made.lifecycle.construct();
  await made.lifecycle.register(neverAborted());
  made.lifecycle.execute();
  heard();
  return made;
}

describe("a changed feature", () => {
  test("is registered before the old one is touched, and ended when nobody uses it any more", async () => {
    const a = part("a");
    const b = part("b");
    const { lifecycle } = await running(on([a, "1"], [b, "1"]));
    const change = await lifecycle.prepare(
      on([a, "2"], [b, "1"]),
      ({ definition }) => definition === a,
      neverAborted(),
    );
    expect(heard()).toEqual(["a(2) registers"]);
    expect(change.features).toEqual(["a"]);
    const retire = change.commit();
    await settled();
    expect(heard()).toEqual(["a(1) stops", "a(2) runs"]);
    await retire();
    expect(heard()).toEqual(["a(1) ends"]);
    await lifecycle.shutdown();
    expect(heard()).toEqual(["a(2) stops", "b(1) stops", "b(1) ends", "a(2) ends"]);
  });

  test("its loop starts only when the old one has ended, or its time to end is up", async () => {
    const deaf = feature("deaf", ({ config }) => ({
      run: () => (calls.push(`runs ${config as unknown as string}`), new Promise(() => undefined)),
    }));
    const { lifecycle, clock } = await running(on([deaf, "1"]));
    const change = await lifecycle.prepare(on([deaf, "2"]), all, neverAborted());
    change.commit();
    await settled();
    expect(heard()).toEqual([]);
    await clock.advance(5000);
    expect(heard()).toEqual(["runs 2"]);
  });

  test("its loop works for nobody, whoever asked for the reload", async () => {
    const seen: unknown[] = [];
    const looking = feature("looking", () => ({ run: async () => void seen.push(currentScope()) }));
    const { lifecycle } = await running(on([looking, "1"]));
    await inScope({ request: "r-1", turn: "t-1" }, async () => {
      const change = await lifecycle.prepare(on([looking, "2"]), all, neverAborted());
      change.commit();
      await settled();
    });
    expect(seen).toEqual([{}, {}]);
  });

  test("the registry is another one; the old stays as it was for whoever holds it", async () => {
    const a = part("a", (config) => ({ tools: [tool(`of_${config}`)] }));
    const { lifecycle } = await running(on([a, "one"]));
    const before = lifecycle.registry;
    const change = await lifecycle.prepare(on([a, "two"]), all, neverAborted());
    expect(lifecycle.registry).toBe(before);
    change.commit();
    expect(before.tools.names()).toEqual(["of_one"]);
    expect(lifecycle.registry.tools.names()).toEqual(["of_two"]);
    expect(change.registry.tools.names()).toEqual(["of_two"]);
  });
});

describe("all or nothing", () => {
  const refusing = (id: string) =>
    part(id, (config) => (config === "bad" ? { register: () => Promise.reject(new Error("wrong key")) } : {}));

  test("a changed feature that does not start undoes the others; the old ones never notice", async () => {
    const a = part("a");
    const b = refusing("b");
    const { lifecycle } = await running(on([a, "1"], [b, "1"]));
    const before = lifecycle.registry;
    const attempt = lifecycle.prepare(on([a, "2"], [b, "bad"]), all, neverAborted());
    await expect(attempt).rejects.toMatchObject({
      code: "FEATURE_FAILED",
      message: expect.stringContaining("b: wrong key"),
    });
    expect(heard()).toEqual(["a(2) registers", "b(bad) ends", "a(2) ends"]);
    expect(lifecycle.registry).toBe(before);
    expect(lifecycle.features().map(({ state }) => state)).toEqual(["running", "running"]);
  });

  describe("a credential that the platform refuses", () => {
    const refusal = new SvcError("CHANNEL_UNAUTHORIZED", "The platform refuses the token.");
    const away = new SvcError("REMOTE_UNREACHABLE", "The platform is away.");
    const checks: Partial<Record<string, () => Promise<string>>> = {
      good: () => Promise.resolve("me"),
      bad: () => Promise.reject(refusal),
      away: () => Promise.reject(away),
    };
    const channel = (id: string, more: Contributions = {}) =>
      part(id, (config) => {
        const check = checks[config];
        return { channel: { send: () => Promise.resolve({}), ...(check && { check }) }, ...more };
      });

    test("leaves the old one in force, whose loop never stops; what was made for it is ended", async () => {
      const [a, b] = [channel("channel-a"), part("b")];
      const { lifecycle, lines } = await running(on([a, "good"], [b, "1"]));
      const before = lifecycle.registry;
      const attempt = lifecycle.prepare(on([a, "bad"], [b, "2"]), all, neverAborted());
      await expect(attempt).rejects.toMatchObject({
        code: "FEATURE_FAILED",
        message: expect.stringContaining("channel-a: The platform refuses the token."),
      });
      expect(heard()).toEqual(["channel-a(bad) registers", "b(2) registers", "b(2) ends", "channel-a(bad) ends"]);
      expect(lifecycle.registry).toBe(before);
      expect(lifecycle.features().map(({ state }) => state)).toEqual(["running", "running"]);
      expect(lines).toContainEqual(expect.objectContaining({ level: "error", feature: "channel-a" }));
    });

    test("of a channel that is new keeps it out, too", async () => {
      const [a, b] = [channel("channel-a"), part("b")];
      const { lifecycle } = await running(on([b, "1"]), [a, b]);
      await expect(lifecycle.prepare(on([a, "bad"], [b, "1"]), none, neverAborted())).rejects.toThrow("channel-a");
    });

    test("is nobody's matter where the platform does not answer, the channel has no loop, or it did not work before", async () => {
      const deaf = { channel: { send: () => Promise.resolve({}), check: () => new Promise<string>(() => undefined) } };
      const [a, b] = [channel("channel-a"), channel("channel-b", { run: undefined as never })];
      const gaveUp = { run: () => Promise.reject(new SvcError("FEATURE_FAILED", "Revoked.")) };
      const [c, d] = [channel("channel-c", gaveUp), part("channel-d", () => deaf)];
      const { lifecycle, clock } = await running(on([a, "good"], [b, "good"], [c, "bad"], [d, "1"]), [a, b, c, d]);
      expect(lifecycle.stateOf("channel-c")).toBe("failed");
      const attempt = lifecycle.prepare(on([a, "away"], [b, "bad"], [c, "bad"], [d, "2"]), all, neverAborted());
      await settled();
      await clock.advance(30_000);
      expect((await attempt).features).toEqual(["channel-a", "channel-b", "channel-c", "channel-d"]);
    });
  });

  test("a conflict is found before anything registers", async () => {
    const a = part("a", (config) => ({ tools: [tool(config)] }));
    const b = part("b", () => ({ tools: [tool("taken")] }));
    const { lifecycle } = await running(on([a, "free"], [b, "1"]));
    const attempt = lifecycle.prepare(on([a, "taken"], [b, "1"]), ({ definition }) => definition === a, neverAborted());
    await expect(attempt).rejects.toMatchObject({ code: "FEATURE_CONFLICT" });
    expect(heard()).toEqual(["a(taken) ends"]);
  });

  test("given up while it registers, nothing is left of it", async () => {
    const a = part("a", (config) => (config === "slow" ? { register: () => new Promise(() => undefined) } : {}));
    const { lifecycle } = await running(on([a, "1"]));
    const stop = new AbortController();
    const attempt = lifecycle.prepare(on([a, "slow"]), all, stop.signal);
    await settled();
    stop.abort(new Error("SIGTERM"));
    await expect(attempt).rejects.toThrow("SIGTERM");
    expect(heard()).toEqual(["a(slow) ends"]);
  });
});

test("what had failed is tried again by every reload, and may fail again", async () => {
  let works = false;
  const a = part("a", () => ({ register: () => (works ? Promise.resolve() : Promise.reject(new Error("down"))) }));
  const { lifecycle } = await running(on([a, "1"]));
  expect(lifecycle.degraded()).toBe(true);
  (await lifecycle.prepare(on([a, "1"]), none, neverAborted())).commit();
  expect(lifecycle.degraded()).toBe(true);
  works = true;
  const change = await lifecycle.prepare(on([a, "1"]), none, neverAborted());
  change.commit();
  expect(lifecycle.degraded()).toBe(false);
});

test("features are turned on and off", async () => {
  const a = part("a");
  const b = part("b");
  const { lifecycle } = await running(on([a, "1"]), [a, b]);
  const change = await lifecycle.prepare(on([b, "1"]), none, neverAborted());
  await change.commit()();
  expect(heard()).toEqual(["b(1) registers", "b(1) runs", "a(1) stops", "a(1) ends"]);
  expect([lifecycle.stateOf("a"), lifecycle.stateOf("b")]).toEqual([undefined, "running"]);
});

test("a shutdown ends what a reload left in use, and no reload comes after it", async () => {
  const a = part("a");
  const { lifecycle } = await running(on([a, "1"]));
  (await lifecycle.prepare(on([a, "2"]), all, neverAborted())).commit();
  await settled();
  const late = await lifecycle.prepare(on([a, "3"]), all, neverAborted());
  heard();
  await lifecycle.shutdown();
  expect(heard()).toEqual(["a(2) stops", "a(2) ends", "a(1) ends"]);
  expect(() => late.commit()).toThrow("shutting down");
  await late.abandon();
  expect(heard()).toEqual(["a(3) ends"]);
});
