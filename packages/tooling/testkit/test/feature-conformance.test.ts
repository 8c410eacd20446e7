// featureConformance must fail for a feature that breaks a rule: one deliberately broken fake per rule.
import {
  defineFeature,
  SvcError,
  type Contributions,
  type FeatureDefinition,
  type Route,
  type Tool,
} from "@svc/contract";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { featureChecks, temporaryHome, type FeatureSubject, type TemporaryHome } from "../src/index.ts";
import { brokenRules } from "./broken-names.ts";
import { writePackage, type PackageText } from "./feature-package.ts";

/** Checks that need a process of their own; io-guard.e2e.test.ts and shared-state.e2e.test.ts have their fakes. */
const IN_A_PROCESS = new Set([
  "importing and constructing does no I/O, starts no timer and reads no environment",
  "nor out of sight, in private fields and in what functions close over",
]);

let home: TemporaryHome;
let folders = 0;
beforeAll(() => {
  home = temporaryHome();
});
afterAll(() => home.remove());

const tool: Tool = {
  name: "fake_tool",
  description: "Does nothing at all, reliably.",
  input: v.strictObject({ path: v.string() }),
  approval: "auto",
  run: () => Promise.resolve(null),
};

const route = (path: string, access: Route["access"] & string): Route => ({
  method: "GET",
  path,
  access,
  doc: { summary: "Does nothing.", answers: {} },
  handle: () => Promise.resolve({ status: 200, body: null }),
});

const sound = (): Contributions => ({
  tools: [tool],
  routes: [route("/api/closed", "read"), route("/api/open", "open")],
  channel: { send: () => Promise.resolve({}) },
  register: async (signal) => signal.throwIfAborted(),
  run: async (signal) => signal.throwIfAborted(),
  shutdown: () => Promise.resolve(),
});

interface Fake {
  readonly definition?: Partial<FeatureDefinition>;
  readonly create?: () => Contributions;
  readonly package?: Partial<PackageText>;
  readonly config?: FeatureSubject["config"];
  readonly frozen?: false;
}

const schema = v.strictObject({ url: v.string(), retry: v.optional(v.strictObject({ times: v.number() })) });
const config = { url: "https://example.org", retry: { times: 3 } };

function checksOf(fake: Fake) {
  folders += 1;
  const routes = ["/api/closed", "/api/open"];
  const manifest = { sections: ["fake"], tools: ["fake_tool"], routes, open: ["/api/open"] };
  const root = writePackage(`${home.path}/${folders}`, { id: "fake-feature", manifest, ...fake.package });
  const create = fake.create ?? sound;
  const definition: FeatureDefinition = {
    id: "fake-feature",
    section: "fake",
    config: schema,
    load: () => Promise.resolve({ create }),
    ...fake.definition,
  };
  const example = "config" in fake ? fake.config : config;
  const subject = { root, ...(example && { config: example }) };
  const checks = featureChecks(fake.frozen === false ? definition : defineFeature(definition), subject);
  return checks.filter(({ name }) => !IN_A_PROCESS.has(name));
}

const never = () => new Promise<never>(() => undefined);
const shared = { sockets: new Map<string, string>() };
const counted = Object.assign(() => Promise.resolve({}), { calls: 0 });
const rows: string[] = [];
const since = new Date(0);

const BROKEN: [fake: string, Fake, rules: string[]][] = [
  ["another package name", { package: { name: "@svc/other" } }, ["id, folder, package name and manifest say one name"]],
  [
    "another id in the manifest",
    {
      create: () => ({ tools: [tool] }),
      package: { manifest: { id: "other", sections: ["fake"], tools: ["fake_tool"] } },
    },
    ["id, folder, package name and manifest say one name"],
  ],
  [
    "another folder",
    { package: { id: "other-folder", name: "@svc/fake-feature" } },
    ["id, folder, package name and manifest say one name"],
  ],
  [
    "an id with capitals",
    { definition: { id: "FakeFeature" }, package: { id: "FakeFeature" } },
    ["id, folder, package name and manifest say one name"],
  ],
  ["not frozen", { frozen: false }, ["the definition is frozen"]],
  ["an undeclared section", { definition: { section: "other" } }, ["the section is declared in the manifest"]],
  [
    "a section without a schema",
    { definition: { config: undefined as never } },
    ["the section is declared in the manifest"],
  ],
  [
    "`when` for a section of its own",
    { definition: { config: undefined as never, when: () => true } },
    ["the section is declared in the manifest"],
  ],
  [
    "a schema without a section",
    { definition: { section: undefined as never } },
    ["the section is declared in the manifest"],
  ],
  ["a schema that refuses the example", { config: { url: 5 } }, ["the schema takes the example"]],
  ["no example", { config: undefined as never }, ["the schema takes the example"]],
  [
    "unknown keys taken",
    { definition: { config: v.object(schema.entries) } },
    ["the schema refuses an unknown key, at every depth"],
  ],
  [
    "unknown keys taken below",
    {
      definition: { config: v.strictObject({ ...schema.entries, retry: v.optional(v.object({ times: v.number() })) }) },
    },
    ["the schema refuses an unknown key, at every depth"],
  ],
  [
    "unknown keys taken in a list",
    {
      definition: { config: v.strictObject({ ...schema.entries, boards: v.array(v.object({})) }) },
      config: { ...config, boards: [{}] },
    },
    ["the schema refuses an unknown key, at every depth"],
  ],
  [
    "anything taken",
    { definition: { config: v.any() } },
    ["the schema refuses an unknown key, at every depth", "the schema takes nothing but a table"],
  ],
  [
    "a message that quotes",
    {
      definition: {
        config: v.strictObject({
          ...schema.entries,
          url: v.pipe(
            v.string(),
            v.check(
              (text) => text.startsWith("http"),
              ({ input }) => `${input} is no URL`,
            ),
          ),
        }),
      },
    },
    ["no message of the schema quotes the value it refused"],
  ],
  [
    "an asynchronous create",
    { create: (async () => sound()) as never },
    ["create() is synchronous and returns its contributions"],
  ],
  [
    "no contributions",
    { create: (() => undefined) as never },
    ["create() is synchronous and returns its contributions"],
  ],
  [
    "an undeclared tool",
    { create: () => ({ tools: [{ ...tool, name: "surprise" }] }) },
    ["it contributes only the tools that its manifest declares"],
  ],
  [
    "an undeclared route",
    { create: () => ({ ...sound(), routes: [route("/api/other", "read")] }) },
    ["it serves only the routes that its manifest declares, and opens only those"],
  ],
  [
    "a route that is open against its manifest",
    { create: () => ({ ...sound(), routes: [route("/api/closed", "open")] }) },
    ["it serves only the routes that its manifest declares, and opens only those"],
  ],
  [
    "a tool without a description",
    { create: () => ({ tools: [{ ...tool, description: " " }] }) },
    ["every tool has a sound name, description, approval and schema"],
  ],
  [
    "state between instances",
    { create: () => ({ ...sound(), channel: { send: () => Promise.resolve({}), shared } as never }) },
    ["two instances share nothing that can change"],
  ],
  [
    "one frozen Map for all",
    {
      create: () => ({
        ...sound(),
        observer: { record: () => undefined, seen: Object.freeze(shared.sockets) } as never,
      }),
    },
    ["two instances share nothing that can change"],
  ],
  ["a table at module level", { package: { imports: "const seen = new Map();" } }, ["its modules keep no state"]],
  [
    "a variable in the entry",
    { package: { entry: "let loads = 0; export const load = () => (loads += 1);" } },
    ["its modules keep no state"],
  ],
  [
    "a shared function with a property",
    { create: () => ({ ...sound(), channel: { send: counted } }) },
    ["two instances share nothing that can change"],
  ],
  [
    "a list that a getter gives",
    {
      create: () =>
        Object.defineProperty(sound(), "observer", {
          get: () => ({ record: () => undefined, rows }),
          enumerable: true,
        }),
    },
    ["two instances share nothing that can change"],
  ],
  [
    "a Map deep down, below what is frozen, under a symbol",
    {
      create: () => {
        let deep: object = Object.freeze({ [Symbol("kept")]: shared.sockets });
        for (let depth = 0; depth < 20; depth += 1) deep = Object.freeze([deep]);
        return { ...sound(), observer: { record: () => undefined, deep } as never };
      },
    },
    ["two instances share nothing that can change"],
  ],
  [
    "a Date that both hold",
    { create: () => ({ ...sound(), observer: { record: () => undefined, since } as never }) },
    ["two instances share nothing that can change"],
  ],
  [
    "a shutdown that throws without register",
    {
      create: () => ({
        ...sound(),
        register: () => Promise.reject(new Error("no")),
        shutdown: () => Promise.reject(new Error("never registered")),
      }),
    },
    [
      "shutdown is safe without register, and when it is called twice",
      "register rejects at once under an aborted signal, and shutdown is safe afterwards",
    ],
  ],
  [
    "a shutdown that fails the second time",
    { create: () => onceOnly() },
    ["shutdown is safe without register, and when it is called twice"],
  ],
  [
    "a shutdown that hangs",
    { create: () => ({ ...sound(), register: undefined as never, shutdown: never }) },
    ["shutdown is safe without register, and when it is called twice"],
  ],
  [
    "a register that ignores its signal",
    { create: () => ({ ...sound(), register: () => Promise.resolve() }) },
    ["register rejects at once under an aborted signal, and shutdown is safe afterwards"],
  ],
  [
    "a register that hangs",
    { create: () => ({ ...sound(), register: never }) },
    ["register rejects at once under an aborted signal, and shutdown is safe afterwards"],
  ],
  ["a run that hangs", { create: () => ({ ...sound(), run: never }) }, ["run ends at once under an aborted signal"]],
];

function onceOnly(): Contributions {
  let ended = false;
  return {
    ...sound(),
    shutdown: async () => {
      if (ended) throw new SvcError("INTERNAL", "again?");
      ended = true;
    },
  };
}

describe("featureConformance", () => {
  test("a sound feature breaks no rule", async () => {
    expect(await brokenRules(checksOf({}))).toEqual([]);
  });

  test("one without config, tools or phases neither", async () => {
    const fake: Fake = { definition: { section: undefined as never, config: undefined as never }, create: () => ({}) };
    expect(await brokenRules(checksOf(fake))).toEqual([]);
  });

  test("one that another's section turns on neither, and it is handed that section", async () => {
    const handed: unknown[] = [];
    const definition = { section: undefined as never, extends: "fake", config: undefined as never, when: () => true };
    const load = async () => ({ create: ({ config: given }: { config: unknown }) => (handed.push(given), sound()) });
    expect(await brokenRules(checksOf({ definition: { ...definition, load } }))).toEqual([]);
    expect(handed).toContain(config);
  });

  test.each(BROKEN)("%s", async (_, fake, rules) => {
    expect(await brokenRules(checksOf(fake))).toEqual(expect.arrayContaining(rules));
  });

  test("every rule has a fake that breaks it", () => {
    const rules = new Set(BROKEN.flatMap(([, , rules]) => rules));
    expect(
      checksOf({})
        .map(({ name }) => name)
        .filter((name) => !rules.has(name)),
    ).toEqual([]);
  });
});
