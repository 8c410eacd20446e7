// Two parts of a build that claim one name stop the start, before any I/O, with every clash told at once.
import { SvcError, type Contributions, type Ingress, type Route, type SandboxBackend } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { type LifecycleOptions, channelIdOf, definitionProblems } from "../src/index.ts";
import { feature, lifecycleOf, tool } from "./fake-features.ts";

const channel = { send: () => Promise.resolve({}) };
const sandbox = (id: string): SandboxBackend => ({
  id,
  probe: () => Promise.resolve({ available: true, unenforced: [] }),
  open: () => Promise.reject(new Error("unused")),
});
const reader = (type: string) => ({ type, read: () => Promise.reject(new Error("unused")) });
const route = (method: string, path: string, more: Partial<Route> = {}) =>
  ({ method, path, doc, handle: () => Promise.resolve({ status: 200, body: null }), ...more }) as Route;
/** A channel that is called at these paths. */
const calledAt = (...ways: (string | Partial<Ingress>)[]): Contributions => ({
  channel,
  ingress: ways.map((way) => ({
    path: "/hook",
    methods: ["POST"],
    signed: true,
    verify: () => ({ ok: true }),
    parse: () => ({}),
    ...(typeof way === "string" ? { path: way } : way),
  })),
});
const doc: Route["doc"] = { summary: "", answers: {} };

async function problemsOf(
  features: Parameters<typeof lifecycleOf>[0],
  options: Partial<LifecycleOptions> = {},
): Promise<string[]> {
  const { lifecycle } = lifecycleOf(features, options);
  const error: unknown = await lifecycle.construct().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error === undefined) return [];
  expect(error).toBeInstanceOf(SvcError);
  expect((error as SvcError).code).toBe("FEATURE_CONFLICT");
  return (error as SvcError).message.split("\n  - ").slice(1);
}

const two = (first: Contributions, second: Contributions) =>
  problemsOf([feature("one", first), feature("two", second)]);

describe("contributions", () => {
  test("no clash, no error", async () => {
    expect(
      await two({ tools: [tool("a")], channel }, { tools: [tool("b")], routes: [route("GET", "/api/x")] }),
    ).toEqual([]);
  });

  test.each<[string, Contributions]>([
    ['tool "a"', { tools: [tool("a")] }],
    ['reader of "application/pdf"', { readers: [reader("application/pdf")] }],
    ['sandbox backend "jail"', { sandbox: sandbox("jail") }],
    ['route "GET /api/x"', { routes: [route("GET", "/api/x")] }],
    ['ingress path "/hook"', calledAt("/hook")],
    ['exposition "GET /metrics"', { observer: { record: () => {}, exposition: { text: () => Promise.resolve("") } } }],
  ])("%s offered twice", async (name, contributions) => {
    expect(await two(contributions, contributions)).toEqual([
      `${name} is offered by both feature "one" and feature "two"`,
    ]);
  });

  test("a tool offered twice by one feature", async () => {
    const tools = [tool("a"), tool("a")];
    expect(await problemsOf([feature("one", { tools })])).toEqual(['tool "a" is offered by feature "one" twice']);
  });

  test("an ingress path offered twice by one feature, even for different methods", async () => {
    const ways = calledAt({ methods: ["GET"] }, { methods: ["POST"] });
    expect(await problemsOf([feature("one", ways)])).toEqual([
      'ingress path "/hook" is offered by feature "one" twice',
    ]);
  });

  test("two channels of one id: the owner of a section and one who extends it", async () => {
    const section = "channels_config.chat";
    const features = [
      feature("channel-chat", { channel }, { section }),
      feature("other", { channel }, { extends: section }),
    ];
    expect(await problemsOf(features)).toEqual([
      'channel "chat" is offered by both feature "channel-chat" and feature "other"',
    ]);
  });

  test("against core's own parts and reserved names", async () => {
    const features = [
      feature("one", {
        tools: [tool("core_tool"), tool("later_tool")],
        sandbox: sandbox("none"),
        routes: [route("POST", "/api/status"), route("GET", "/api/sessions/x")],
        ...calledAt("/webhook", "/webhook/mailpush", "/health"),
      }),
    ];
    const problems = await problemsOf(features, {
      core: { tools: [tool("core_tool")], sandboxes: [sandbox("none")] },
      reserved: { tools: ["later_tool"], paths: ["/api/status", "/api/sessions/{id}", "/webhook", "/health"] },
    });
    expect(problems).toEqual([
      'tool "core_tool" is offered by both core and feature "one"',
      'tool "later_tool" is offered by both core and feature "one"',
      'sandbox backend "none" is offered by both core and feature "one"',
      'ingress path "/webhook" of feature "one" is a path of core',
      'ingress path "/health" of feature "one" is a path of core',
      'route "POST /api/status" of feature "one" is on a path of core',
      'route "GET /api/sessions/x" of feature "one" is on a path of core',
    ]);
  });

  test.each<[string, Contributions]>([
    ["tool name", { tools: [tool("Shell")] }],
    ["tool name", { tools: [tool("a".repeat(65))] }],
    ["tool name", { tools: [tool("__proto__")] }],
    ["media type of a reader", { readers: [reader("pdf")] }],
    ["media type of a reader", { readers: [reader("Application/PDF")] }],
    ["sandbox backend id", { sandbox: sandbox("my jail") }],
    ["route method", { routes: [route("PATCH", "/api/x")] }],
    ["route path", { routes: [route("GET", "/webhook")] }],
    ["route path", { routes: [route("GET", "/api/x/")] }],
    ["route path", { routes: [route("GET", "/api/:any")] }],
    ["route path", { routes: [route("GET", "/api/../health")] }],
    ["route path", { routes: [route("GET", "/api/*")] }],
    ["route path", { routes: [route("GET", "/api/{}")] }],
    ["route path", { routes: [route("GET", "/api/{a-b}")] }],
    ["route path", { routes: [route("GET", "/api/x{a}")] }],
    ["route path", { routes: [route("GET", "/api/{a}/x/{a}")] }],
    ["ingress path", calledAt("/api")],
    ["ingress path", calledAt("/api/hook")],
    ["ingress path", calledAt("hook")],
    ["ingress path", calledAt("/")],
    ["ingress path", calledAt("/hook/")],
    ["ingress path", calledAt("//hook")],
    ["ingress path", calledAt("/a/../hook")],
    ["ingress path", calledAt("/hook?token=x")],
    ["ingress path", calledAt("/%68ook")],
    ["ingress path", calledAt("/{any}")],
    ["ingress methods", calledAt({ methods: [] })],
    ["ingress methods", calledAt({ methods: ["POST", "DELETE" as never] })],
  ])("bad %s", async (kind, contributions) => {
    const problems = await problemsOf([feature("one", contributions)]);
    expect(problems).toEqual([expect.stringContaining(`feature "one": bad ${kind} `)]);
  });

  describe("patterns of routes", () => {
    const get = (path: string) => ({ routes: [route("GET", path)] });

    test.each([
      ["/api/a/{id}", "/api/a/new"],
      ["/api/a/new", "/api/a/{id}"],
      ["/api/a/{id}", "/api/a/{key}"],
      ["/api/{any}/x", "/api/a/{id}"],
      ["/api/{any}/{id}", "/api/a/b"],
    ])("%s and %s meet", async (one, other) => {
      const met = `routes "GET ${one}" of feature "one" and "GET ${other}" of feature "two" are on the same paths`;
      expect(await two(get(one), get(other))).toEqual([met]);
      const inOne = await problemsOf([feature("one", { routes: [...get(one).routes, ...get(other).routes] })]);
      expect(inOne).toEqual([met.replace("two", "one")]);
      const beside = await problemsOf([feature("one", get(one))], { reserved: { paths: [other] } });
      expect(beside).toEqual([`route "GET ${one}" of feature "one" is on a path of core`]);
    });

    test.each([
      ["/api/a/{id}", "/api/a"],
      ["/api/a/{id}", "/api/b/{id}"],
      ["/api/a/{id}", "/api/a/{id}/x"],
      ["/api/{any}/x", "/api/a/y"],
    ])("%s and %s don't", async (one, other) => {
      expect(await two(get(one), get(other))).toEqual([]);
    });
  });

  test("methods of one path are found by one pattern, in one feature too", async () => {
    const routes = [route("GET", "/api/a/{id}"), route("DELETE", "/api/a/{key}")];
    expect(await problemsOf([feature("one", { routes })])).toHaveLength(1);
  });

  test("a path is one feature's, with all its methods", async () => {
    const both = ["GET", "DELETE"].map((method) => route(method, "/api/x/{id}"));
    expect(await problemsOf([feature("one", { routes: both })])).toEqual([]);
    expect(await two({ routes: both }, { routes: [route("POST", "/api/x/{id}")] })).toHaveLength(2);
  });

  test("a route is open only where the manifest of its feature lists the path", async () => {
    const open = (path: string) => ({ routes: [route("POST", path, { access: "open" })] });
    const features = [feature("one", open("/api/x/{id}")), feature("two", open("/api/y"))];
    const problem = (name: string, who: string) =>
      `route "POST ${name}" of feature "${who}" is open, and "open" of its manifest does not list the path`;
    expect(await problemsOf(features)).toEqual([problem("/api/x/{id}", "one"), problem("/api/y", "two")]);
    const openPaths = new Map([["one", ["/api/x/{id}", "/api/y"]]]);
    expect(await problemsOf(features, { openPaths })).toEqual([problem("/api/y", "two")]);
  });

  test("an access that nobody knows disables the feature: it is not taken for open or closed", async () => {
    const { lifecycle } = lifecycleOf([
      feature("one", { routes: [route("GET", "/api/x", { access: "public" as never })] }),
    ]);
    await lifecycle.construct();
    expect(lifecycle.stateOf("one")).toBe("failed");
  });

  test("what was checked is what is registered: members are read once and tools can't change afterwards", async () => {
    const shifting = tool("mild");
    let reads = 0;
    const tricky: Contributions = {
      get tools() {
        reads += 1;
        return reads === 1 ? [shifting] : [tool("wild")];
      },
    };
    const { lifecycle } = lifecycleOf([feature("one", tricky)]);
    await lifecycle.construct();
    const registry = await lifecycle.register(new AbortController().signal);
    expect(registry.tools.names()).toEqual(["mild"]);
    expect(() => Object.assign(shifting, { approval: "auto", name: "wild" })).toThrow(TypeError);
  });
});

describe("definitions", () => {
  const problems = (...definitions: Parameters<typeof feature>[2][]) =>
    definitionProblems(
      definitions.map((rest, index) => feature(`f${index}`, {}, rest)),
      { core: v.strictObject({ mine: v.string() }) },
    );
  const config = (key: string) => v.strictObject({ [key]: v.string() });

  test.each<[string, string[], ReturnType<typeof problems>]>([
    ["no problem", [], problems({ section: "a", config: config("x") }, { extends: "a", config: config("y") })],
    [
      "a second owner",
      ['section [a] is owned by both feature "f0" and feature "f1"'],
      problems({ section: "a" }, { section: "a" }),
    ],
    ["core's section", ['section [core] is owned by both core and feature "f0"'], problems({ section: "core" })],
    ["nobody's section", ['feature "f0" extends section [b], which no feature owns'], problems({ extends: "b" })],
    [
      "a key declared twice",
      ['key "mine" of section [core] is declared by both core and feature "f0"'],
      problems({ extends: "core", config: config("mine") }),
    ],
    [
      "a key declared by two who extend",
      ['key "x" of section [core] is declared by both feature "f0" and feature "f1"'],
      problems({ extends: "core", config: config("x") }, { extends: "core", config: config("x") }),
    ],
    [
      "a section that is a key",
      ['section [core.mine] of feature "f0" is a key of [core], of core'],
      problems({ section: "core.mine" }),
    ],
    ["an id used twice", ['feature "x" is in the build twice'], problems({ id: "x" }, { id: "x" })],
    [
      "a part that is none",
      [
        'feature "x-b" is a part of "y", which is not in the build',
        'feature "x-b": the id of a part begins with "y-"',
        'feature "x-b" is a part of a feature and has no section',
      ],
      problems({ id: "x" }, { id: "x-b", partOf: "y" }),
    ],
    ["a part", [], problems({ id: "x", section: "a" }, { id: "x-b", partOf: "x", section: "b" })],
    [
      "a part that extends a section",
      [],
      problems({ id: "x", section: "a" }, { id: "y", section: "b" }, { id: "x-b", partOf: "x", extends: "b" }),
    ],
    ["a bad id", ['feature "../x": an id is lower-case words joined by "-"'], problems({ id: "../x" })],
    ["a bad section", ['feature "f0": bad section name "A b"'], problems({ section: "A b" })],
    [
      "both owner and guest",
      ['feature "f0" owns a section and extends one'],
      problems({ section: "a", extends: "core" }),
    ],
    ["a schema of nothing", ['feature "f0" has a config schema and no section'], problems({ config: config("x") })],
  ])("%s", (_, expected, found) => expect(found).toEqual(expected));

  test("features that are off are checked too", async () => {
    const definitions = [feature("one", {}, { section: "x" }), feature("two", {}, { section: "x" })];
    expect(await problemsOf(definitions, { definitions, enabled: [] })).toHaveLength(1);
  });

  test("all clashes of all kinds come in one error, and nothing was registered", async () => {
    const registered: string[] = [];
    const clashing = (id: string) =>
      feature(
        id,
        { tools: [tool("a"), tool("B")], sandbox: sandbox("jail"), register: async () => void registered.push(id) },
        { section: "gateway" },
      );
    const { lifecycle } = lifecycleOf([clashing("one"), clashing("two")]);
    await expect(lifecycle.construct()).rejects.toThrow(/owned by both core[^]*tool "a"[^]*sandbox backend "jail"/);
    await expect(lifecycle.register(new AbortController().signal)).rejects.toThrow(SvcError);
    expect(registered).toEqual([]);
  });
});

test.each([
  [{ id: "channel-chat", section: "channels_config.chat" }, "chat"],
  [{ id: "channel-webhook", extends: "channels_config.webhook" }, "webhook"],
  [{ id: "channel-push-mail" }, "push_mail"],
  [{ id: "voice-wake", section: "channels_config.voice_wake" }, "voice_wake"],
])("channelIdOf %j", (definition, id) => expect(channelIdOf(definition)).toBe(id));
