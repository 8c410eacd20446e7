// The four phases: what fails disables itself alone, what hangs is not waited for, what ends is ended once and in reverse.
import { type Channel, type Contributions, type FeatureContext, type Ingress, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { settled } from "./fake-clock.ts";
import { anEvent, feature, lifecycleOf, neverAborted, tool } from "./fake-features.ts";

const never = () => new Promise<never>(() => undefined);
const clients = new Map(["one", "two"].map((id) => [id, () => Promise.reject(new Error(id))] as const));
const clientOf = (id: string): FeatureContext["fetch"] => clients.get(id) as FeatureContext["fetch"];
const SENDS: Channel = { send: () => Promise.resolve({}) };
const WAY_IN: Ingress = {
  path: "/chat",
  methods: ["POST"],
  signed: true,
  verify: () => ({ ok: true }),
  parse: () => ({}),
};
const HALF_A_WAY = "an ingress needs path, methods, signed, verify() and parse()";
const TOKEN = `svc_${"a".repeat(64)}`;

describe("construction", () => {
  test("in the order given, each with its own config, log and clock", async () => {
    const made: unknown[] = [];
    const definitions = ["one", "two"].map((id) => feature(id, (context) => (made.push([id, context.config]), {})));
    const enabled = definitions.map((definition) => ({ definition, config: `config of ${definition.id}` }));
    await lifecycleOf(definitions, { enabled }).lifecycle.construct();
    expect(made).toEqual([
      ["one", "config of one"],
      ["two", "config of two"],
    ]);
  });

  test("told which build it is in, where anybody knows", async () => {
    const builds: FeatureContext["build"][] = [];
    const definitions = ["one", "two"].map((id) => feature(id, ({ build }) => (builds.push(build), {})));
    const build = {
      version: "1.2.3",
      commit: "0123abc",
      profile: "full",
      recipe: { profile: "full", with: [], without: [] },
    };
    const enabled = definitions.map((definition, index) => ({ definition, config: 0, ...(index === 0 && { build }) }));
    await lifecycleOf(definitions, { enabled }).lifecycle.construct();
    expect(builds).toEqual([
      build,
      {
        version: "unknown",
        commit: "unknown",
        profile: "unknown",
        recipe: { profile: "minimal", with: [], without: [] },
      },
    ]);
  });

  test("with the outgoing client made for it, or one that refuses", async () => {
    const clients: unknown[] = [];
    const definitions = ["one", "two"].map((id) => feature(id, ({ fetch }) => (clients.push(fetch), {})));
    const enabled = definitions.map((definition) => ({ definition, config: 0, fetch: clientOf(definition.id) }));
    await lifecycleOf(definitions, { enabled }).lifecycle.construct();
    expect(clients).toEqual([clientOf("one"), clientOf("two")]);

    let refusing: FeatureContext["fetch"] | undefined;
    await lifecycleOf([feature("three", ({ fetch }) => ((refusing = fetch), {}))]).lifecycle.construct();
    await expect(refusing?.("https://example.org")).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  });

  test.each<[string, Parameters<typeof feature>[1], string]>([
    [
      "throws",
      () => {
        throw new Error(`no ${TOKEN}`);
      },
      "no ••••••",
    ],
    ["returns a promise", (() => Promise.reject(new Error("late"))) as never, "create() must be synchronous"],
    ["returns nothing", (() => undefined) as never, "create() must return its contributions"],
    [
      "contributes half a tool",
      { tools: [{ ...tool("a"), run: undefined }] } as never,
      "a tool needs name, description, input, approval and run()",
    ],
    [
      "contributes half a reader",
      { readers: [{ type: "a/b" }] } as never,
      "a reader of documents needs type and read()",
    ],
    ["contributes a channel without send", { channel: {} } as never, "a channel needs send()"],
    ["contributes half a way in", { channel: SENDS, ingress: [{ path: "/x" }] } as never, HALF_A_WAY],
    [
      "contributes a way in for no channel",
      { ingress: [WAY_IN] },
      "an ingress needs a channel whose messages come in by it",
    ],
    [
      "has a run that is no function",
      { run: 5 } as never,
      "register, run, shutdown and promptContext must be functions",
    ],
  ])("a feature whose create %s is disabled; the others stay", async (_, contributions, reason) => {
    const { lifecycle, lines } = lifecycleOf([feature("bad", contributions), feature("good", { tools: [tool("b")] })]);
    await lifecycle.construct();
    const registry = await lifecycle.register(neverAborted());
    expect(registry.tools.names()).toEqual(["b"]);
    expect(lifecycle.features()).toMatchObject([
      { id: "bad", state: "failed", reason },
      { id: "good", state: "running" },
    ]);
    expect(lifecycle.degraded()).toBe(true);
    expect(lines).toMatchObject([{ level: "error", feature: "bad", code: "FEATURE_FAILED", reason }]);
  });

  test("an import that never comes back costs its feature only", async () => {
    const { lifecycle, clock } = lifecycleOf([feature("stuck", {}, { load: never }), feature("good", {})]);
    const constructing = lifecycle.construct();
    await clock.advance(30_000);
    await constructing;
    expect(lifecycle.features()).toMatchObject([
      { state: "failed", reason: "import took longer than 30 s" },
      { state: "constructed" },
    ]);
  });
});

describe("registration", () => {
  test("a feature that fails leaves nothing behind, and its shutdown is called once", async () => {
    const calls: string[] = [];
    const failing: Contributions = {
      tools: [tool("a")],
      channel: { send: () => Promise.resolve({}) },
      observer: { record: () => void calls.push("observed") },
      register: () =>
        Promise.reject(new SvcError("FEATURE_FAILED", `The platform refused ${TOKEN}.`, { hint: "Check it." })),
      run: async () => void calls.push("ran"),
      shutdown: async () => void calls.push("shut down"),
    };
    const { lifecycle } = lifecycleOf([feature("bad", failing), feature("good", { tools: [tool("b")] })]);
    await lifecycle.construct();
    const registry = await lifecycle.register(neverAborted());
    expect([registry.tools.names(), registry.channels.size, registry.observers]).toEqual([["b"], 0, []]);
    expect(lifecycle.features()[0]).toMatchObject({
      state: "failed",
      reason: "The platform refused ••••••. Check it.",
    });
    lifecycle.publish(anEvent);
    lifecycle.execute();
    await lifecycle.shutdown();
    expect(calls).toEqual(["shut down"]);
    expect(lifecycle.features().map(({ state }) => state)).toEqual(["failed", "stopped"]);
  });

  test("one that hangs is given up when its time is over, and its signal says so", async () => {
    let given: AbortSignal | undefined;
    const hanging: Contributions = { register: (signal) => ((given = signal), never()) };
    const { lifecycle, clock } = lifecycleOf([feature("stuck", hanging), feature("good", {})], {
      limits: { registerMs: 2000 },
    });
    await lifecycle.construct();
    const registering = lifecycle.register(neverAborted());
    await clock.advance(1999);
    expect(given?.aborted).toBe(false);
    await clock.advance(1);
    await registering;
    expect(given?.aborted).toBe(true);
    expect(lifecycle.features()[0]).toMatchObject({ state: "failed", reason: "registration took longer than 2 s" });
    expect(clock.waiting).toBe(0);
  });

  test("what was checked of a way in can't be changed afterwards", async () => {
    const way = { ...WAY_IN };
    const { lifecycle } = lifecycleOf([
      feature("channel-chat", { channel: SENDS, ingress: [way] }, { section: "channels_config.chat" }),
    ]);
    await lifecycle.construct();
    const registry = await lifecycle.register(neverAborted());
    expect(registry.ingress).toMatchObject([{ feature: "channel-chat", channel: "chat", ingress: { path: "/chat" } }]);
    expect(() => Object.assign(way, { path: "/webhook" })).toThrow(TypeError);
  });

  test("a start that is called off rejects at once; shutdown then ends everything in reverse", async () => {
    const ended: string[] = [];
    const part = (id: string, register: () => Promise<void>) =>
      feature(id, { register, shutdown: async () => void ended.push(id) });
    const { lifecycle } = lifecycleOf([part("a", never), part("b", () => Promise.resolve()), part("c", never)]);
    await lifecycle.construct();
    const stop = new AbortController();
    const registering = lifecycle.register(stop.signal);
    await settled();
    stop.abort(new Error("SIGTERM"));
    await expect(registering).rejects.toThrow("SIGTERM");
    expect(() => lifecycle.registry).toThrow(SvcError);
    await lifecycle.shutdown();
    expect(ended).toEqual(["c", "b", "a"]);
  });
});

describe("shutdown", () => {
  test("reverse order, once, however often and from wherever it is called", async () => {
    const calls: string[] = [];
    const part = (id: string) =>
      feature(id, {
        run: (signal) =>
          new Promise((resolve) => signal.addEventListener("abort", () => (calls.push(`${id} loop`), resolve()))),
        shutdown: async () => void calls.push(id),
      });
    const { lifecycle } = lifecycleOf([part("a"), part("b"), part("c")]);
    await lifecycle.construct();
    await lifecycle.register(neverAborted());
    lifecycle.execute();
    await Promise.all([lifecycle.shutdown(), lifecycle.shutdown()]);
    await lifecycle.shutdown();
    expect(calls).toEqual(["a loop", "b loop", "c loop", "c", "b", "a"]);
  });

  test("safe when nothing was constructed, and nothing can start afterwards", async () => {
    const { lifecycle } = lifecycleOf([feature("a", {})]);
    await lifecycle.shutdown();
    await expect(lifecycle.construct()).rejects.toThrow("shutting down");
  });

  test("during an import: nothing is created any more", async () => {
    const made: string[] = [];
    const { lifecycle } = lifecycleOf([
      feature("stuck", {}, { load: never }),
      feature("b", () => (made.push("b"), {})),
    ]);
    const constructing = lifecycle.construct();
    await lifecycle.shutdown();
    await expect(constructing).rejects.toThrow(SvcError);
    expect(made).toEqual([]);
  });

  test("during registration: waits for it to give up, then ends all", async () => {
    const ended: string[] = [];
    const { lifecycle } = lifecycleOf([feature("a", { register: never, shutdown: async () => void ended.push("a") })]);
    await lifecycle.construct();
    const registering = lifecycle.register(neverAborted());
    await lifecycle.shutdown();
    await expect(registering).rejects.toThrow(SvcError);
    expect(ended).toEqual(["a"]);
  });

  test("a feature that throws or hangs does not keep the others", async () => {
    const ended: string[] = [];
    const part = (id: string, shutdown: () => Promise<void>) =>
      feature(id, { shutdown: () => (ended.push(id), shutdown()) });
    const { lifecycle, clock, lines } = lifecycleOf([
      part("fine", () => Promise.resolve()),
      part("throws", () => {
        throw new Error(`at once, with ${TOKEN}`);
      }),
      part("rejects", () => Promise.reject(new Error("later"))),
      part("hangs", never),
      feature("deaf", { run: never }),
    ]);
    await lifecycle.construct();
    await lifecycle.register(neverAborted());
    lifecycle.execute();
    const down = lifecycle.shutdown();
    await clock.advance(5000); // the deaf loop
    await clock.advance(5000); // the hanging shutdown
    await down;
    expect(ended).toEqual(["hangs", "rejects", "throws", "fine"]);
    expect(lines.map(({ reason }) => reason)).toEqual([
      "stopping the loop took longer than 5 s",
      "shutdown took longer than 5 s",
      "later",
      "at once, with ••••••",
    ]);
  });

  test("phases can't be skipped or repeated", async () => {
    const { lifecycle } = lifecycleOf([]);
    await expect(lifecycle.register(neverAborted())).rejects.toThrow(SvcError);
    expect(() => lifecycle.execute()).toThrow(SvcError);
    await lifecycle.construct();
    await expect(lifecycle.construct()).rejects.toThrow(SvcError);
    await lifecycle.register(neverAborted());
    await expect(lifecycle.register(neverAborted())).rejects.toThrow(SvcError);
    lifecycle.execute();
    expect(() => lifecycle.execute()).toThrow(SvcError);
  });
});

test("an observer that throws or rejects is counted, told once in the log, and the others are told", async () => {
  const seen: unknown[] = [];
  const observers: Contributions[] = [
    {
      observer: {
        record: () => {
          throw new Error("broken");
        },
      },
    },
    { observer: { record: (() => Promise.reject(new Error("async"))) as never } },
    { observer: { record: (event) => void seen.push(event) } },
  ];
  const { lifecycle, lines } = lifecycleOf(
    observers.map((contributions, index) => feature(`o${index}`, contributions)),
  );
  lifecycle.publish(anEvent); // before there is anyone to tell: nothing happens
  await lifecycle.construct();
  await lifecycle.register(neverAborted());
  for (let index = 0; index < 3; index += 1) lifecycle.publish(anEvent);
  await settled();
  expect(seen).toEqual([anEvent, anEvent, anEvent]);
  expect(lifecycle.features().map(({ observerErrors }) => observerErrors)).toEqual([3, 3, 0]);
  expect(lines).toHaveLength(2);
});
