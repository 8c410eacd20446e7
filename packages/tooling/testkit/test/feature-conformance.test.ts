// featureConformance must fail for a feature that breaks a rule: one deliberately broken fake per rule.
import type { Contributions, FeatureContext, FeatureDefinition } from "@svc/contract";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryHome } from "../src/temporary-home.ts";
import { brokenRules } from "./broken-names.ts";
import { partChecks } from "../src/conformance/definition-checks.ts";
import { writePackage } from "./feature-package.ts";
import { BROKEN_PHASES, validating } from "./feature-fakes/broken-phases.ts";
import { BROKEN_SHARING } from "./feature-fakes/broken-sharing.ts";
import {
  type Broken,
  checksOf as checksIn,
  config,
  type Fake,
  route,
  schema,
  sound,
  tool,
} from "./feature-fakes/feature.ts";

const home = temporaryHome();
afterAll(() => home.remove());
const folders = { made: 0 };

const checksOf = (fake: Fake) => checksIn(fake, `${home.path}/${(folders.made += 1)}`);

const BROKEN: readonly Broken[] = [
  ...BROKEN_SHARING,
  ...BROKEN_PHASES,
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
    "a part whose id does not begin with the feature's",
    { definition: { id: "other-part", partOf: "fake-feature" } },
    ["id, folder, package name and manifest say one name"],
  ],
  [
    "a part without a section",
    { definition: { id: "fake-feature-part", partOf: "fake-feature", section: undefined as never } },
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
];

describe("featureConformance", () => {
  test("a sound feature breaks no rule", async () => {
    expect(await brokenRules(checksOf({}))).toEqual([]);
  });

  test("one without config, tools or phases neither", async () => {
    const fake: Fake = { definition: { section: undefined as never, config: undefined as never }, create: () => ({}) };
    expect(await brokenRules(checksOf(fake))).toEqual([]);
  });

  test("one whose tool goes by what its registration found out neither", async () => {
    let name: unknown;
    const create = (context: FeatureContext): Contributions => ({
      ...validating(context, async (_, own) => [name, await own.fetch("https://api.example.org/parcels")]),
      register: async (signal) => {
        signal.throwIfAborted();
        name = (await context.fetch("https://api.example.org/me")).bytes;
      },
    });
    expect(await brokenRules(checksOf({ create }))).toEqual([]);
  });

  test("one that another's section turns on neither, and it is handed that section", async () => {
    const handed: unknown[] = [];
    const definition = { section: undefined as never, extends: "fake", config: undefined as never, when: () => true };
    const load = async () => ({ create: ({ config: given }: { config: unknown }) => (handed.push(given), sound()) });
    expect(await brokenRules(checksOf({ definition: { ...definition, load } }))).toEqual([]);
    expect(handed).toContain(config);
  });

  test.each(BROKEN)("%s", async (_, fake, rules) => {
    expect(await brokenRules(checksOf(fake))).toEqual(expect.arrayContaining([...rules]));
  });

  test("a sound part of a feature breaks no rule", async () => {
    const definition = { id: "fake-feature-part", partOf: "fake-feature" };
    expect(await brokenRules(checksOf({ definition }))).toEqual([]);
  });

  const feature = { id: "fake-feature", section: "fake", config: schema, load: async () => ({ create: sound }) };
  const part = { ...feature, id: "fake-feature-part", partOf: "fake-feature", section: "fake_part" };
  test.each<[string, readonly FeatureDefinition[], number]>([
    ["a feature and its part", [feature, part], 0],
    ["a part that comes first", [part, feature], 1],
    ["a part of another feature", [feature, { ...part, partOf: "other" }], 1],
    ["two parts with one id", [feature, part, { ...part, section: "more" }], 1],
    ["two parts with one section", [feature, { ...part, section: "fake" }], 1],
    ["a part that extends a section", [feature, { ...part, section: undefined as never, extends: "fake_part" }], 0],
    [
      "a part that extends the section of the feature",
      [feature, { ...part, section: undefined as never, extends: "fake" }],
      1,
    ],
    ["a part without a section", [feature, { ...part, section: undefined as never }], 1],
    ["a section of the manifest that no part owns", [feature], 1],
  ])("%s", async (_, definitions, broken) => {
    const manifest = { sections: ["fake", "fake_part"] };
    const root = writePackage(`${home.path}/${(folders.made += 1)}`, { id: "fake-feature", manifest });
    expect(await brokenRules(partChecks(definitions, root))).toHaveLength(broken);
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
