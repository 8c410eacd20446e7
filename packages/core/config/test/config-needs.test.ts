// A key that only another feature makes something of was taken without a word, and did nothing.
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import * as v from "valibot";
import { expect, test } from "vitest";
import { CATALOGUE, makeFixture } from "./config-fixtures.ts";
import { loadConfig } from "../src/index.ts";

const load = () => Promise.reject(new Error("the config never loads a feature"));
const twoWays: FeatureDefinition = {
  id: "two-ways",
  section: "two_ways",
  config: v.strictObject({ here: v.optional(v.string()), there: v.optional(v.string()) }),
  load,
  needs: ({ here, there }) =>
    there === undefined || here !== undefined ? [] : [{ key: "there", feature: "other-way" }],
};
const otherWay: FeatureDefinition = { id: "other-way", load };

const [any] = CATALOGUE as [CatalogueEntry];
const entry = (rest: Partial<CatalogueEntry>): CatalogueEntry => ({
  ...any,
  id: "other-way",
  included: false,
  build: `npx pnpm build home --with ${rest.flag ?? "other-way"}`,
  ...rest,
});

async function problemsOf(toml: string, features = [twoWays], catalogue: readonly CatalogueEntry[] = []) {
  const fixture = makeFixture();
  try {
    await loadConfig({ home: fixture.home, env: {}, features, catalogue, text: toml });
    return [];
  } catch (error) {
    return (error as { problems: { code: string; line?: number; key: string; message: string }[] }).problems;
  } finally {
    fixture.remove();
  }
}

const WITH = '[two_ways]\nenabled = true\nthere = "x"\n';

test("the key is told with the flag, the profiles and the build that has the feature", async () => {
  const [problem, ...others] = await problemsOf(WITH, [twoWays], [entry({ flag: "the-flag", profiles: ["full"] })]);
  expect(others).toEqual([]);
  expect(problem).toMatchObject({ code: "FEATURE_ABSENT", line: 3, key: "two_ways.there" });
  expect(problem?.message).toBe(
    "this key needs the feature the-flag, not in this build; profiles that have it: full; " +
      "build it in with: npx pnpm build home --with the-flag",
  );
});

test("a feature that is not written yet is told as that", async () => {
  expect(await problemsOf(WITH, [twoWays], [entry({ flag: "the-flag", planned: true })])).toMatchObject([
    { code: "FEATURE_PLANNED", message: "this key needs the feature the-flag, planned, not written yet" },
  ]);
});

test("a catalogue that does not know it leaves its id", async () => {
  expect(await problemsOf(WITH)).toMatchObject([
    { code: "FEATURE_ABSENT", message: expect.stringContaining("--with other-way") },
  ]);
});

test.each([
  ["the feature is in the build", WITH, [twoWays, otherWay]],
  ["the other key makes it unneeded", `${WITH}here = "x"\n`, [twoWays]],
  ["the section is off", WITH.replace("true", "false"), [twoWays]],
  ["the section is not there", "", [twoWays]],
])("nothing is told when %s", async (_, toml, features) => {
  expect(await problemsOf(toml, features)).toEqual([]);
});

test("a section that is invalid is told as that; its keys are not asked about", async () => {
  expect(await problemsOf("[two_ways]\nthere = 1\n")).toMatchObject([
    { code: "CONFIG_INVALID", key: "two_ways.there" },
  ]);
});

const listens: FeatureDefinition = {
  id: "listens",
  section: "listens",
  config: v.strictObject({ word: v.string() }),
  load,
  needs: () => [{ section: "transcription" }],
};

test.each([
  ["is missing", ""],
  ["is off", "[transcription]\nenabled = false\n"],
])("a section that needs another one is told with both names where that %s", async (_, other) => {
  expect(await problemsOf(`[listens]\nword = "x"\n${other}`, [listens])).toMatchObject([
    {
      code: "CONFIG_INVALID",
      line: 1,
      key: "listens",
      message: "this section needs [transcription] with enabled = true",
    },
  ]);
});

test("a section that is needed and on is no problem, nor is one that nobody needs", async () => {
  expect(await problemsOf('[listens]\nword = "x"\n[transcription]\nenabled = true\n', [listens])).toEqual([]);
  expect(await problemsOf("", [listens])).toEqual([]);
});

const moves: FeatureDefinition = {
  id: "moves",
  section: "moves",
  config: v.strictObject({ fast: v.optional(v.boolean()) }),
  load,
  needs: () => [{ tool: "stop", beside: "drive" }],
};
const MOVES = "[moves]\nfast = true\n";
const AGENT = '[agents.pilot]\ninstructions = "You drive."\ntools = ';

test.each([
  [
    "tools.disabled",
    '[tools]\ndisabled = [\n  "http_get",\n  "stop",\n]\n',
    { line: 6, key: "tools.disabled[1]", message: "stop can't be switched off while drive is on; disable both" },
  ],
  [
    "an agent's own list",
    `${AGENT}["drive"]\n`,
    { line: 5, key: "agents.pilot.tools", message: "an agent that has drive needs stop too" },
  ],
])("a tool that must not be missing beside another one is not taken away by %s", async (_, toml, problem) => {
  expect(await problemsOf(`${MOVES}${toml}`, [moves])).toMatchObject([{ code: "CONFIG_INVALID", ...problem }]);
  // Where the section is off there is nothing to stop.
  expect(await problemsOf(toml, [moves])).toEqual([]);
});

test.each([
  ["both are off", '[tools]\ndisabled = ["stop", "drive"]\n'],
  ["an agent has both", `${AGENT}["drive", "stop"]\n`],
  ["an agent has neither", `${AGENT}["http_get"]\n`],
])("nothing is told when %s", async (_, toml) => {
  expect(await problemsOf(`${MOVES}${toml}`, [moves])).toEqual([]);
});
