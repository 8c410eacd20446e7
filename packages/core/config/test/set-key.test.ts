// A config edited by a command must load afterwards, or stay as it was; and what is told of a secret is never the secret.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { ConfigError, listSecrets, sealConfigFile, setConfigKey } from "../src/index.ts";
import { FEATURES, makeFixture } from "./config-fixtures.ts";

const fixture = makeFixture();
const { home } = fixture;
afterAll(() => fixture.remove());
beforeEach(() => rmSync(home.secretKey, { force: true }));

const text = (): string => readFileSync(home.config, "utf8");
const set = (key: string, value: string, env = {}) =>
  setConfigKey({ home, env, features: FEATURES, catalogue: [], key, value });

describe("setting a key", () => {
  test.for([
    ["gateway.port", "8080", "[gateway]\nport = 1 # why\n", "[gateway]\nport = 8080 # why\n"],
    ["tools.disabled", "shell, http_get", "[tools]\ndisabled = []\n", '[tools]\ndisabled = ["shell", "http_get"]\n'],
    ["agent.instructions", "007", "[agent]\n", '[agent]\ninstructions = "007"\n'],
    [
      'prices."gpt-4.1".input_per_million',
      "2",
      '[prices."gpt-4.1"]\ninput_per_million = 1\noutput_per_million = 8\n',
      '[prices."gpt-4.1"]\ninput_per_million = 2\noutput_per_million = 8\n',
    ],
  ] as const)("%s to %s changes that line", async ([key, value, before, after]) => {
    fixture.write(before);
    await set(key, value);
    expect(text()).toBe(after);
  });

  test.for([
    ["model.api_key", "sk-planted", "svc secrets set model.api_key"],
    ["gateway.prot", "1", "gateway.port"],
    ["gateway", "1", "svc config schema"],
    ["gateway.port = 1\n[model]\nname", "x", "svc config schema"],
    ["gateway.port", "many", "0 to 65535"],
    ["security.policy.autonomy", "total", "read_only, supervised, full"],
    ["model.price", '{"input_per_million":1}', "one by one"],
  ] as const)("%j is refused with what would be right", async ([key, value, told]) => {
    fixture.write("[gateway]\nport = 1\n");
    const error = await set(key, value).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: expect.stringMatching(/^(USAGE|CONFIG_INVALID)$/) });
    const { message, hint, problems } = error as ConfigError;
    const said = `${message} ${hint} ${JSON.stringify(problems)}`;
    expect(said).toContain(told);
    expect(said).not.toContain("planted");
    expect(text()).toBe("[gateway]\nport = 1\n");
  });

  test("what the rules of the whole config forbid is not written", async () => {
    fixture.write("[gateway]\nrequire_pairing = false\n");
    await expect(set("gateway.host", "0.0.0.0")).rejects.toBeInstanceOf(ConfigError);
    expect(text()).toBe("[gateway]\nrequire_pairing = false\n");
  });

  test("a variable that beats the file is told", async () => {
    fixture.write("");
    const { config, key } = await set("gateway.port", "5", { SVC__GATEWAY__PORT: "6" });
    expect([config.setBy(key), config.core.gateway.port]).toEqual(["SVC__GATEWAY__PORT", 6]);
  });
});

test("secrets are listed by where they come from, also of a config that does not load", async () => {
  const plain =
    "[model]\nprovider = 7\napi_key = \"sk-planted-model\"\n[agents.helper.model]\napi_key = 'sk-planted-agent'\n";
  fixture.write(plain);
  await sealConfigFile({ home, features: FEATURES });
  writeFileSync(home.config, `${text()}[channels_config.webhook]\nsecret = "sk-planted-hook"\nsigning_secret = " "\n`);
  const env = { SVC__MODEL__API_KEY: "sk-planted-env" };
  const states = async (): Promise<Map<string, unknown>> => {
    const listed = await listSecrets({ home, features: FEATURES, env });
    expect(JSON.stringify(listed)).not.toContain("planted");
    return new Map(listed.map(({ key, state, variable }) => [key, variable ?? state]));
  };
  const listed = await states();
  expect(listed.get("model.api_key")).toBe("SVC__MODEL__API_KEY");
  expect(listed.get("agents.helper.model.api_key")).toBe("encrypted");
  expect(listed.get("channels_config.webhook.secret")).toBe("plain");
  expect(listed.get("channels_config.webhook.signing_secret")).toBe("unset");
  writeFileSync(home.secretKey, "0".repeat(64), { mode: 0o600 });
  expect((await states()).get("agents.helper.model.api_key")).toBe("unreadable");
});
