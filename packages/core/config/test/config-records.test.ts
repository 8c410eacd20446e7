// bug this exists for: a section that is a record had no known keys, so [agents.x] was refused and its api_key not seen as a secret.
import { type FeatureDefinition, secret } from "@svc/contract";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError, MASK, configJsonSchema, formatProblems, loadConfig, walkSchema } from "../src/index.ts";
import { makeFixture } from "./config-fixtures.ts";

const fixture = makeFixture();
afterAll(() => fixture.remove());

const AGENTS = `[agents.helper]
instructions = "Help."
[agents.helper.model]
provider = "openai"
name = "gpt-5.2"
api_key = "key-of-helper"
[agents.night-watch]
tools = []
[prices."gpt-5.2"]
input_per_million = 1.75
output_per_million = 14
`;

describe("[agents] and [prices]", () => {
  test("are empty when absent, and hold what the file says, quoted names with dots too", async () => {
    const none = await fixture.load({}, "");
    expect([none.core.agents, none.core.prices]).toEqual([{}, {}]);
    const { core } = await fixture.load({}, AGENTS);
    expect(core.agents).toEqual({
      helper: { instructions: "Help.", model: { provider: "openai", name: "gpt-5.2", api_key: "key-of-helper" } },
      "night-watch": { tools: [] },
    });
    expect(core.prices).toEqual({ "gpt-5.2": { input_per_million: 1.75, output_per_million: 14 } });
    expect(() => Object.assign(core.agents, { other: {} })).toThrow(TypeError);
    expect(() => Object.assign(core.agents["helper"]!, { tools: [] })).toThrow(TypeError);
  });

  test("a key that doesn't belong is found at every depth, with its line and what was meant", async () => {
    expect(
      await fixture.lines(`[agents.helper]
instrctions = "x"
[agents.helper.model]
api_kye = "x"
[agents.helper.policy]
autonomy = "ful"
[prices."gpt-5.2"]
input_per_millon = 1
[prices.free]
input_per_million = -1
output_per_million = 0
`),
    ).toEqual([
      'config.toml:2  agents.helper.instrctions: unknown key; did you mean "instructions"? (allowed: instructions, model, workspace, tools, …)',
      'config.toml:4  agents.helper.model.api_kye: unknown key; did you mean "api_key"? (allowed: provider, name, base_url, api_key, …)',
      'config.toml:6  agents.helper.policy.autonomy: must be one of the values allowed; did you mean "full"? (allowed: read_only, supervised, full)',
      'config.toml:7  prices."gpt-5.2".input_per_million: is required',
      'config.toml:7  prices."gpt-5.2".output_per_million: is required',
      'config.toml:8  prices."gpt-5.2".input_per_millon: unknown key; did you mean "input_per_million"? (allowed: input_per_million, output_per_million)',
      "config.toml:10  prices.free.input_per_million: must be a number (allowed: 0 or more)",
    ]);
  });

  test("a key in the wrong place, or a table that is none, is said", async () => {
    expect(await fixture.lines("[agents]\ninstructions = 'x'\n[prices]\nx = 1\n")).toEqual([
      "config.toml:2  agents.instructions: must be a table",
      "config.toml:4  prices.x: must be a table",
    ]);
    expect(await fixture.lines("agents = 1")).toEqual(["config.toml:1  agents: must be a table"]);
  });

  test.each(["Helper", "a b", "9a", "_a", "ä", "a.b", "", "a".repeat(65)])("no agent is named %j", async (name) => {
    const problems = await fixture.problems(`[agents.${JSON.stringify(name)}]\n`);
    expect(problems).toMatchObject([
      { line: 1, column: 9, message: "agent names are a-z, then a-z 0-9 _ -, at most 64 characters" },
    ]);
  });

  test("nor default, nor by a name that objects inherit", async () => {
    expect(await fixture.lines("[agents.default]\n[agents.constructor]\n[prices.__proto__]\n")).toEqual([
      "config.toml:1  agents.default: this is the agent that [agent] and [model] make; choose another name",
      "config.toml:2  agents.constructor: this name can't be used",
      "config.toml:3  prices.__proto__: this name can't be used",
    ]);
  });

  test("a hash differs when something in it does, wherever it stands", async () => {
    const hash = async (toml: string) => (await fixture.load({}, toml)).hash("agents");
    const before = await hash(AGENTS);
    expect(
      await hash(`[agents.night-watch]\ntools = []\n${AGENTS.replace("[agents.night-watch]\ntools = []\n", "")}`),
    ).toBe(before);
    expect(await hash(AGENTS.replace("key-of-helper", "key-of-other"))).not.toBe(before);
    expect(await hash(AGENTS.replace("night-watch", "day-watch"))).not.toBe(before);
  });
});

describe("secrets inside", () => {
  test("are in the walk, shown as dots, known to the redactor, and never told", async () => {
    const keys = walkSchema([]).filter(({ node }) => node.marks.secret);
    expect(keys.map(({ key }) => key)).toContain("agents.*.model.api_key");
    const config = await fixture.load({}, AGENTS);
    expect(config.redacted()["agents"]).toEqual({
      helper: { instructions: "Help.", model: { provider: "openai", name: "gpt-5.2", api_key: MASK } },
      "night-watch": { tools: [] },
    });
    expect(config.secrets()).toContain("key-of-helper");
    const told = await fixture.lines("agents.x.model.api_key = ['key-of-x']\n[agents.x.modle]\napi_key = 'key-of-x'");
    expect(told.join()).not.toContain("key-of-x");
  });

  test("blank ones are unset", async () => {
    const { core } = await fixture.load({}, AGENTS.replace('"openai"', '"builtin"').replace("key-of-helper", " "));
    expect(core.agents["helper"]?.model).not.toHaveProperty("api_key");
  });
});

describe("by the environment", () => {
  test("an agent of the file is found by its name, - and . of it being _", async () => {
    const { core } = await fixture.load(
      {
        SVC__AGENTS__HELPER__INSTRUCTIONS: "Other.",
        SVC__AGENTS__HELPER__MODEL__API_KEY: "from-env",
        SVC__AGENTS__NIGHT_WATCH__TOOLS: "shell,file_read",
        SVC__PRICES__GPT_5_2__INPUT_PER_MILLION: "2",
        SVC__AGENTS__FRESH__MODEL__NAME: "m",
      },
      AGENTS,
    );
    expect(core.agents).toMatchObject({
      helper: { instructions: "Other.", model: { api_key: "from-env" } },
      "night-watch": { tools: ["shell", "file_read"] },
      fresh: { model: { name: "m" } },
    });
    expect(Object.keys(core.agents)).toHaveLength(3);
    expect(core.prices["gpt-5.2"]?.input_per_million).toBe(2);
  });

  test("one that could be two is refused, an exact one is not", async () => {
    const env = { SVC__AGENTS__A_B__INSTRUCTIONS: "x" };
    const both = "[agents.a-b]\n[agents.a_b]\n";
    expect((await fixture.load(env, both)).core.agents["a_b"]?.instructions).toBe("x");
    const prices = '[prices."a-b"]\ninput_per_million = 1\noutput_per_million = 1\n';
    expect(
      formatProblems(
        await fixture.problems(prices + prices.replace("a-b", "a.b"), { SVC__PRICES__A_B__INPUT_PER_MILLION: "1" }),
      ),
    ).toBe("SVC__PRICES__A_B__INPUT_PER_MILLION  prices: stands for more than one of a-b, a.b");
  });

  test("a mistake is told by its variable", async () => {
    const told = await fixture.lines("", {
      SVC__AGENTS__HELPER__INSTRUCTION: "x",
      SVC__AGENTS__DEFAULT__INSTRUCTIONS: "x",
    });
    expect(told.sort()).toEqual([
      "SVC__AGENTS__DEFAULT__INSTRUCTIONS  agents.default: this is the agent that [agent] and [model] make; choose another name",
      expect.stringMatching(
        /^SVC__AGENTS__HELPER__INSTRUCTION {2}agents.helper.instruction: unknown key; did you mean "SVC__AGENTS__HELPER__INSTRUCTIONS"/,
      ),
    ]);
  });
});

test("JSON Schema: every name takes the item's keys, and none but a right name is taken", async () => {
  const { properties } = (await configJsonSchema([])) as { properties: Record<string, Record<string, unknown>> };
  expect(properties["agents"]).toMatchObject({
    propertyNames: { pattern: "^[a-z][a-z0-9_-]{0,63}$" },
    additionalProperties: {
      additionalProperties: false,
      properties: { model: { properties: { api_key: { writeOnly: true, format: "password" } } } },
    },
  });
  expect(JSON.stringify(properties)).not.toContain('"restart":');
});

describe("a feature's section that is a record", () => {
  const accounts: FeatureDefinition = {
    id: "accounts",
    section: "accounts",
    config: v.record(v.string(), v.strictObject({ password: secret(), port: v.optional(v.number(), 1) })),
    load: () => Promise.reject(new Error("never")),
  };
  const load = (toml: string) => {
    fixture.write(toml);
    return loadConfig({ home: fixture.home, env: {}, features: [accounts], catalogue: [] });
  };

  test("is on when it is there, off by enabled = false, which is no entry of it", async () => {
    const on = await load("[accounts.one]\npassword = 'p1'\n");
    expect(on.enabled(accounts)).toBe(true);
    expect(on.configOf(accounts)).toEqual({ one: { password: "p1", port: 1 } });
    expect(on.redacted()["accounts"]).toEqual({ one: { password: MASK, port: 1 } });
    const off = await load("[accounts]\nenabled = false\n[accounts.one]\npassword = 'p1'\n");
    expect(off.enabled(accounts)).toBe(false);
    expect(off.secrets()).toEqual(["p1"]);
    expect((await load("")).enabled(accounts)).toBe(false);
  });

  test("demands what its entries must have", async () => {
    const error = await load("[accounts.one]\nport = 2\n").catch((error: unknown) => error as ConfigError);
    expect(formatProblems((error as ConfigError).problems)).toBe(
      "config.toml:1  accounts.one.password: is required; a blank secret counts as unset",
    );
  });
});
