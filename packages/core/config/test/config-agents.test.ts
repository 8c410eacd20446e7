// attack this exists for: an agent with another base_url is sent the key of [model], which its server then has.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import { type CoreConfig, DEFAULT_AGENT, coreSections, resolveAgents } from "../src/index.ts";
import { makeFixture } from "./config-fixtures.ts";

const fixture = makeFixture();
afterAll(() => fixture.remove());

type Sections = { readonly [Name in keyof CoreConfig]?: unknown };

/** A core config with the defaults of all sections that are not given. */
const coreWith = (given: Sections): CoreConfig =>
  Object.fromEntries(
    Object.entries(coreSections).map(([name, schema]) => [
      name,
      v.parse(schema, given[name as keyof CoreConfig] ?? {}),
    ]),
  ) as CoreConfig;

const resolve = (given: Sections, name: string) => resolveAgents(coreWith(given)).get(name);

describe("an agent", () => {
  test("without a word of its own is the default one by another name", () => {
    const given = {
      agent: { instructions: "Be brief.", max_cost_per_day: 3 },
      model: { provider: "openai", name: "m", api_key: "k", price: { input_per_million: 1, output_per_million: 2 } },
      workspace: { path: "desk" },
      "security.policy": { autonomy: "full", allowed_commands: ["ls"] },
      agents: { helper: {} },
    };
    const agents = resolveAgents(coreWith(given));
    expect([...agents.keys()]).toEqual([DEFAULT_AGENT, "helper"]);
    expect(agents.get("helper")).toEqual({ ...agents.get(DEFAULT_AGENT), name: "helper" });
  });

  test("overrides key by key, an empty list and a zero too", () => {
    const helper = resolve(
      {
        agent: { instructions: "Be brief.", max_cost_per_day: 3 },
        "security.policy": { autonomy: "full", allowed_commands: ["ls"], max_actions_per_hour: 5 },
        agents: {
          helper: {
            instructions: "",
            workspace: "bench",
            tools: [],
            max_cost_per_day: 0,
            policy: { allowed_commands: [], max_actions_per_hour: 0, workspace_only: false },
          },
        },
      },
      "helper",
    );
    expect(helper).toMatchObject({ instructions: "", workspace: "bench", tools: [], maxCostPerDay: 0 });
    expect(helper?.policy).toEqual({
      autonomy: "full",
      allowed_commands: [],
      workspace_only: false,
      forbidden_paths: [],
      max_actions_per_hour: 0,
      per_client: true,
      always: [],
    });
  });

  test("takes nothing of [model] but the number of retries to another provider", () => {
    const shared = {
      provider: "openai",
      name: "m",
      base_url: "https://a/",
      api_key: "k",
      max_retries: 7,
      max_output_tokens: 9,
      price: { input_per_million: 1, output_per_million: 2 },
    };
    const other = resolve({ model: shared, agents: { helper: { model: { provider: "anthropic" } } } }, "helper");
    expect(other?.model).toEqual({ provider: "anthropic", max_retries: 7 });
  });

  test.each([
    ["its own price", { model: { price: { input_per_million: 5, output_per_million: 5 } } }, 5],
    ["the price of [model] for the same model", {}, 1],
    ["the price by name for another model", { model: { name: "listed" } }, 7],
    ["no price for a model nobody priced", { model: { name: "other" } }, undefined],
    ["no price by a name that objects inherit", { model: { name: "constructor" } }, undefined],
    ["the price by name on another server", { model: { name: "listed", base_url: "https://b/" } }, 7],
    ["no price of [model] on another server", { model: { base_url: "https://b/" } }, undefined],
  ])("has %s", (_what, helper, expected) => {
    const price = (input: number) => ({ input_per_million: input, output_per_million: 0 });
    const given = { model: { provider: "openai", name: "m", price: price(1) }, prices: { listed: price(7) } };
    expect(resolve({ ...given, agents: { helper } }, "helper")?.model.price?.input_per_million).toBe(expected);
  });
});

describe("the models that people may choose", () => {
  const price = (input: number) => ({ input_per_million: input, output_per_million: 0 });
  const shared = {
    provider: "openai",
    name: "m",
    api_key: "k",
    price: price(1),
    choices: ["small", "m", "big", "small"],
  };
  const prices = { small: price(7), m: price(9) };
  const choicesOf = (agent: object, name = "helper") =>
    resolve({ model: shared, prices, agents: { helper: { model: agent } } }, name)!.choices;

  test("are the standing one by another name, each with the price of that name", () => {
    const server = { provider: "openai", api_key: "k", max_retries: 3 };
    expect(choicesOf({}, DEFAULT_AGENT)).toEqual([
      { ...server, name: "small", price: price(7) },
      { ...server, name: "big" },
    ]);
    expect(resolve({ model: shared, prices }, DEFAULT_AGENT)!.model).not.toHaveProperty("choices");
  });

  test.each<[string, object, string[]]>([
    ["taken over like the name", {}, ["small", "big"]],
    ["taken over, and the standing one is none of them", { name: "big" }, ["small", "m"]],
    ["its own, when it says so", { choices: ["tiny"] }, ["tiny"]],
    ["none, when it says so", { choices: [] }, []],
    ["those of its server", { base_url: "https://b/", api_key: "other" }, ["small", "big"]],
    ["none of another provider's", { provider: "anthropic", name: "c", api_key: "c" }, []],
    ["its own with another provider", { provider: "anthropic", name: "c", api_key: "c", choices: ["d"] }, ["d"]],
  ])("of an agent are %s", (_what, own, expected) => {
    const choices = choicesOf(own);
    expect(choices.map(({ name }) => name)).toEqual(expected);
    const { api_key: key = "k" } = own as { api_key?: string };
    expect(choices.every((choice) => choice.api_key === key)).toBe(true);
  });

  test("are none of the built-in one, which has no name", () => {
    expect(resolve({ model: { choices: ["small"] } }, DEFAULT_AGENT)!.choices).toEqual([]);
  });

  test("need a name, and their price where there is a limit", async () => {
    const model = `[model]\nprovider = "openai"\nname = "m"\napi_key = "k"\nprice = { input_per_million = 1, output_per_million = 1 }\n`;
    const needs = 'needs the price of each of them: set [prices."…"] with its name in the quotes';
    expect(await fixture.lines(`${model}choices = [" ", "Default"]`)).toEqual([
      "config.toml:6  model.choices[0]: must be a model's name, not blank",
      "config.toml:6  model.choices[1]: this word goes back to the standing model; name another",
    ]);
    expect(await fixture.lines(`${model}choices = ["s"]\n[agent]\nmax_cost_per_day = 1`)).toEqual([
      `config.toml:6  model.choices: agent.max_cost_per_day ${needs}`,
    ]);
    expect(await fixture.lines(`${model}choices = ["s"]\n[agents.a]\nmax_cost_per_day = 1`)).toEqual([
      `config.toml:8  agents.a.max_cost_per_day: holds for the models of model.choices too, and ${needs}`,
    ]);
    expect(await fixture.lines(`${model}[agent]\nmax_cost_per_day = 1\n[agents.a.model]\nchoices = ["s"]`)).toEqual([
      `config.toml:9  agents.a.model.choices: the limit of cost ${needs}`,
    ]);
    const priced = `${model}choices = ["s"]\n[agent]\nmax_cost_per_day = 1\n[agents.a]\n[prices.s]\n`;
    expect(await fixture.lines(`${priced}input_per_million = 1\noutput_per_million = 1`)).toEqual([]);
  });
});

describe("properties", () => {
  const some = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
  const price = (input: number) => ({ input_per_million: input, output_per_million: 0 });
  const modelWith = (keys: string[], prices: number[]) =>
    fc
      .record({
        provider: some("builtin", "openai", "anthropic", "openai-compatible"),
        name: some("m1", "m2", "m3"),
        base_url: some("https://a/", "https://b/", "https://a/v1"),
        api_key: some(...keys),
        price: some(...prices.map(price)),
      })
      .map((model) => JSON.parse(JSON.stringify(model)) as Record<string, unknown>);
  const given = fc.record({
    model: modelWith(["key-of-model"], [1]),
    agents: fc.record({ helper: fc.record({ model: modelWith(["key-of-helper"], [2]) }) }),
    prices: fc.constantFrom({}, { m2: price(3) }),
  });

  test("the key of [model] goes to its own provider and its own base_url, and nowhere else", () => {
    const seen = { shared: 0, kept: 0 };
    fc.assert(
      fc.property(given, (config) => {
        const agents = resolveAgents(coreWith(config));
        const [main, helper] = [agents.get(DEFAULT_AGENT)!.model, agents.get("helper")!.model];
        const own = config.agents.helper.model["api_key"];
        const isShared = helper.api_key === "key-of-model";
        if (isShared) seen.shared += 1;
        else if (main.api_key !== undefined && helper.api_key === undefined) seen.kept += 1;
        const isSameServer = helper.provider === main.provider && helper.base_url === main.base_url;
        return (own === undefined || helper.api_key === own) && (!isShared || isSameServer);
      }),
      { numRuns: cases(2000) },
    );
    expect(Math.min(seen.shared, seen.kept)).toBeGreaterThan(0);
  });

  test("the price of [model] is for its own model name and server, and no other", () => {
    let inherited = 0;
    fc.assert(
      fc.property(given, (config) => {
        const agents = resolveAgents(coreWith(config));
        const [main, helper] = [agents.get(DEFAULT_AGENT)!.model, agents.get("helper")!.model];
        const isInherited = helper.price?.input_per_million === 1;
        if (isInherited) inherited += 1;
        const served = ({ provider, name, base_url }: typeof main) => JSON.stringify([provider, name, base_url]);
        return !isInherited || served(helper) === served(main);
      }),
      { numRuns: cases(2000) },
    );
    expect(inherited).toBeGreaterThan(0);
  });
});

describe("rules", () => {
  test("each mistake is told once, where it was made", async () => {
    expect(
      await fixture.lines(`[model]
provider = "openai"
name = "m"
[agent]
max_cost_per_day = 1
[agents.same]
[agents.elsewhere.model]
base_url = "https://b/"
[agents.other.model]
provider = "anthropic"
api_key = "kéy"
[agents.local.model]
provider = "openai-compatible"
name = "l"
price = { input_per_million = 0, output_per_million = 0 }
[agents.strict]
max_cost_per_day = 2
workspace = " "
tools = ["shell", "File_Read"]
[agents.strict.policy]
forbidden_paths = ["ok", "*.key"]
[channels_config.webhook]
agent = "lokal"
`),
    ).toEqual([
      'config.toml:1  model.api_key: is required when model.provider is "openai"',
      'config.toml:5  agent.max_cost_per_day: needs the price of the model: set [model.price], or [prices."…"] with the model\'s name in the quotes',
      'config.toml:7  agents.elsewhere.model.api_key: is required when agents.elsewhere.model.provider is "openai"',
      'config.toml:7  agents.elsewhere.model: agent.max_cost_per_day holds here too, and needs the price of the model: set [agents.elsewhere.model.price], or [prices."…"] with the model\'s name in the quotes',
      'config.toml:9  agents.other.model.name: is required when agents.other.model.provider is "anthropic"',
      'config.toml:9  agents.other.model: agent.max_cost_per_day holds here too, and needs the price of the model: set [agents.other.model.price], or [prices."…"] with the model\'s name in the quotes',
      "config.toml:11  agents.other.model.api_key: has characters that no HTTP header can carry",
      'config.toml:12  agents.local.model.base_url: is required when agents.local.model.provider is "openai-compatible"',
      'config.toml:17  agents.strict.max_cost_per_day: needs the price of the model: set [agents.strict.model.price], or [prices."…"] with the model\'s name in the quotes',
      "config.toml:18  agents.strict.workspace: must be a path, not blank",
      "config.toml:19  agents.strict.tools[1]: must be a tool's name: a-z, then a-z 0-9 _, at most 64",
      "config.toml:21  agents.strict.policy.forbidden_paths[1]: must be a plain path, absolute or relative to the workspace, without ~ and without patterns",
      'config.toml:23  channels_config.webhook.agent: no agent has this name; did you mean "local"? (allowed: default, same, elsewhere, other, …)',
    ]);
  });

  test.each([
    "[agent]\nmax_cost_per_day = 1",
    "[agents.a]\nmax_cost_per_day = 1",
    "[agents.a]\n[channels_config.webhook]\nagent = 'a'",
    "[channels_config.webhook]\nagent = 'default'",
    `[model]\nprovider = "openai"\nname = "m"\napi_key = "k"\n[agents.a]\nmax_cost_per_day = 1\n[prices.m]\ninput_per_million = 1\noutput_per_million = 1`,
    `[agents.a.model]\nprovider = "openai"\nname = "m"\napi_key = "k"\n[agents.a]\ntools = ["shell"]\nworkspace = "w"`,
  ])("%j is right", async (toml) => expect(await fixture.lines(toml)).toEqual([]));

  test("a channel names an agent that there is, whether it is core's or a feature's, and turned on or not", async () => {
    const channel = (agent: string) => `[agents.local]\n[channels_config.mailpush]\nagent = "${agent}"\n`;
    const wrong = 'config.toml:3  channels_config.mailpush.agent: no agent has this name; did you mean "local"?';
    expect(await fixture.lines(channel("lokal"))).toEqual([expect.stringContaining(wrong)]);
    expect(await fixture.lines(channel("lokal") + "enabled = true\ntopic = 't'")).toHaveLength(1);
    expect(await fixture.lines(channel("local"))).toEqual([]);
    expect(await fixture.lines(channel("default"))).toEqual([]);
  });

  test("a channel's agent that is no name at all is told once", async () => {
    expect(await fixture.lines("[channels_config.mailpush]\nagent = 5")).toEqual([
      "config.toml:2  channels_config.mailpush.agent: must be text",
    ]);
  });

  test("a workspace can't be the home itself by a blank path", async () => {
    expect(await fixture.lines("[workspace]\npath = ''")).toEqual([
      "config.toml:2  workspace.path: must be a path, not blank",
    ]);
  });

  test("a key by variable completes an agent's model", async () => {
    const toml = "[agents.a.model]\nprovider = 'openai'\nname = 'm'";
    expect(await fixture.lines(toml, { SVC__AGENTS__A__MODEL__API_KEY: "k" })).toEqual([]);
    expect(await fixture.lines(toml, { SVC__AGENTS__A__MODEL__API_KEY: " " })).toEqual([
      'config.toml:1  agents.a.model.api_key: is required when agents.a.model.provider is "openai"',
    ]);
  });
});

describe("limits of one client", () => {
  test("are those of the agent by default, are overridden key by key, and none with per_client = false", () => {
    const made = (agent: object, named: object = {}) => {
      const config = coreWith({ agent, agents: { a: named } });
      return Array.from(resolveAgents(config).values(), (each) => [each.maxCostPerDay, each.clientMaxCostPerDay]);
    };
    expect(made({ max_cost_per_day: 3 }, { client_max_cost_per_day: 1 })).toEqual([
      [3, 3],
      [3, 1],
    ]);
    expect(made({ client_max_cost_per_day: 2 }, { max_cost_per_day: 9, per_client: false })).toEqual([
      [undefined, 2],
      [9, undefined],
    ]);
    expect(made({ max_cost_per_day: 3, client_max_cost_per_day: 2, per_client: false }, { per_client: true })).toEqual([
      [3, undefined],
      [3, 2],
    ]);
  });

  test("must not be more than those of the agent beside them, and need the price", async () => {
    const price = `[prices.m]\ninput_per_million = 1\noutput_per_million = 1\n`;
    const model = `[model]\nprovider = "openai"\nname = "m"\napi_key = "k"\n`;
    const lines = (text: string) => fixture.lines(model + text);
    expect(await lines(`[agent]\nclient_max_cost_per_day = 1`)).toEqual([
      expect.stringContaining("agent.client_max_cost_per_day: needs the price of the model"),
    ]);
    expect(
      await lines(`${price}[agent]
max_cost_per_day = 1
client_max_cost_per_day = 2
[agents.a]
max_cost_per_day = 1
client_max_cost_per_day = 1.5
[agents.a.policy]
max_actions_per_hour = 1
client_max_actions_per_hour = 2
[security.policy]
max_actions_per_hour = 0
client_max_actions_per_hour = 2`),
    ).toEqual([
      "config.toml:10  agent.client_max_cost_per_day: must not be more than agent.max_cost_per_day",
      "config.toml:13  agents.a.client_max_cost_per_day: must not be more than agents.a.max_cost_per_day",
      "config.toml:16  agents.a.policy.client_max_actions_per_hour: must not be more than agents.a.policy.max_actions_per_hour",
    ]);
  });
});
