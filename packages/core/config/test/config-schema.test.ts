// behaviour: one walk knows every key, so that redaction, environment, JSON Schema and docs can't drift apart.
import { type FeatureDefinition, secret } from "@svc/contract";
import { lstatSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import {
  configJsonSchema,
  coreSections,
  defaultConfigText,
  formatProblems,
  hashedSecret,
  homeOf,
  loadConfig,
  walkSchema,
  writeDefaultConfig,
} from "../src/index.ts";
import { FEATURES, makeFixture } from "./config-fixtures.ts";

const fixture = makeFixture();
afterAll(() => fixture.remove());

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly writeOnly?: boolean;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly [keyword: string]: unknown;
}

function schemaAt(root: JsonSchema, path: readonly string[]): JsonSchema | undefined {
  let here: JsonSchema | undefined = root;
  for (const name of path) {
    const options: readonly JsonSchema[] = here?.anyOf ?? (here ? [here] : []);
    if (name === "[]") here = here?.items;
    else if (name === "*") here = here?.additionalProperties as JsonSchema;
    else here = options.map((option) => option.properties?.[name]).find((found) => found !== undefined);
  }
  return here;
}

describe("the walk", () => {
  test("finds keys through optional, pipe, list, record, union, with marks, default, description and bounds", () => {
    const keys = new Map(walkSchema(FEATURES).map((key) => [key.key, key]));
    expect(keys.get("gateway.port")).toMatchObject({
      section: "gateway",
      owner: "core",
      node: { type: "integer", required: false, default: 42617, min: 0, max: 65535, description: expect.any(String) },
    });
    expect(keys.get("security.policy.autonomy")?.node.choices).toEqual(["read_only", "supervised", "full"]);
    expect(keys.get("channels_config.provider_a.app_secret")).toMatchObject({
      owner: "channel-provider-a",
      node: { marks: { secret: true, env: "SVC_PROVIDER_A_APP_SECRET", envMode: "override" } },
    });
    expect(keys.get("channels_config.webhook.url")).toMatchObject({
      owner: "channel-webhook",
      node: { required: true },
    });
    expect(keys.get("channels_config.provider_a.enabled")?.node.default).toBe(true);
    expect(keys.get("shapes.accounts.*.password")?.node.marks.secret).toBe(true);
    expect(keys.get("shapes.boards.[].baud")?.node).toMatchObject({ type: "integer", min: 1 });
  });

  test("every key of core is described", () => {
    const bare = walkSchema([]).filter(({ node }) => node.description === undefined && node.type !== "object");
    expect(bare.map(({ key }) => key)).toEqual([]);
    expect(new Set(walkSchema([]).map(({ section }) => section))).toEqual(new Set(Object.keys(coreSections)));
  });

  test("a schema it can't see inside is refused: a secret in there would be shown", () => {
    for (const config of [
      v.strictObject({ a: v.lazy(() => secret()) }),
      v.strictObject({ a: v.map(v.string(), secret()) }),
    ]) {
      const feature: FeatureDefinition = { id: "opaque", section: "opaque", config, load: () => Promise.reject() };
      expect(() => walkSchema([feature])).toThrow(TypeError);
    }
  });
});

describe("JSON Schema", () => {
  test("has every key of the walk, its description and default, secrets as passwords", async () => {
    const root = (await configJsonSchema(FEATURES)) as JsonSchema;
    expect(root).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#", additionalProperties: false });
    const keys = walkSchema(FEATURES);
    const facts = keys.map(({ key, path }) => {
      const { description, default: value, writeOnly, format } = schemaAt(root, path) ?? { missing: true };
      return { key, description, value, writeOnly, format };
    });
    expect(facts).toEqual(
      keys.map(({ key, node }) => ({
        key,
        description: node.description,
        value: node.default,
        writeOnly: node.marks.secret,
        format: node.marks.secret && "password",
      })),
    );
  });

  test("says what is demanded, and leaves nothing of our own marks in", async () => {
    const root = (await configJsonSchema(FEATURES)) as JsonSchema;
    expect(schemaAt(root, ["channels_config", "provider_a"])?.["required"]).toEqual([
      "access_token",
      "phone_number_id",
      "verify_token",
    ]);
    expect(schemaAt(root, ["channels_config", "webhook"])?.["required"]).toBeUndefined();
    expect(JSON.stringify(root)).not.toMatch(/"envMode"|"secret":true|"env":/);
  });
});

describe("the config of a first run", () => {
  const load = (home: ReturnType<typeof homeOf>) => loadConfig({ home, env: {}, features: FEATURES, catalogue: [] });

  test("is written whole, loads without a problem, and is never written over", async () => {
    const home = homeOf({ SVC_HOME: join(fixture.home.root, "deep", "home") });
    await writeDefaultConfig(home, FEATURES);
    const config = await load(home);
    expect(config.warnings).toEqual([]);
    expect(config.core.model.provider).toBe("builtin");
    expect(readFileSync(home.config, "utf8")).toMatch(/^#:schema \.\/config\.schema\.json\n/);
    expect(JSON.parse(readFileSync(home.configSchema, "utf8"))).toEqual(await configJsonSchema(FEATURES));
    const before = readFileSync(home.config, "utf8");
    await expect(writeDefaultConfig(home, FEATURES, { port: 1 })).rejects.toMatchObject({ code: "CONFIG_EXISTS" });
    expect(readFileSync(home.config, "utf8")).toBe(before);
  });

  test("only this user can look into it", async (context) => {
    context.skip(process.platform === "win32", "Windows has no permission bits");
    const home = homeOf({ SVC_HOME: join(fixture.home.root, "modes") });
    await writeDefaultConfig(home, []);
    const modes = [home.root, home.workspace, home.config].map((file) => statSync(file).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  });

  test("of two at once one wins, and what it wrote is whole", async () => {
    const home = homeOf({ SVC_HOME: join(fixture.home.root, "race") });
    const made = [1, 2, 3, 4].map((port) => writeDefaultConfig(home, [], { port }));
    const done = (await Promise.allSettled(made)).map(({ status }) => status);
    expect(done.filter((status) => status === "fulfilled")).toHaveLength(1);
    expect((await load(home)).core.gateway.port).toBe(done.indexOf("fulfilled") + 1);
  });

  test("a dangling link is not followed", async () => {
    const home = homeOf({ SVC_HOME: join(fixture.home.root, "link") });
    mkdirSync(home.root);
    symlinkSync(join(fixture.home.root, "elsewhere"), home.config);
    await expect(writeDefaultConfig(home, [])).rejects.toMatchObject({ code: "CONFIG_EXISTS" });
    expect(lstatSync(join(fixture.home.root, "elsewhere"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("a home that can't be is said", async () => {
    const file = join(fixture.home.root, "file");
    writeFileSync(file, "");
    const home = homeOf({ SVC_HOME: join(file, "home") });
    await expect(writeDefaultConfig(home, [])).rejects.toMatchObject({ code: "HOME_UNWRITABLE", exitCode: 73 });
    rmSync(file);
  });

  test("any text given for a value arrives as it was", async () => {
    const tricky = 'a"b\\c\n\t\u007f\u0000é\u2028#';
    const model = {
      provider: "openai-compatible",
      name: tricky,
      baseUrl: "http://127.0.0.1:1/v1",
      apiKey: 'k"e\\y#',
    } as const;
    const text = defaultConfigText({ host: "::1", port: 0, model, webhookSecret: tricky });
    expect(formatProblems(await fixture.problems(text))).toBe("");
    const { core } = await fixture.load();
    expect(core.model).toMatchObject({ provider: "openai-compatible", name: tricky, api_key: 'k"e\\y#' });
    expect(core.gateway).toMatchObject({ host: "::1", port: 0 });
    expect(core["channels_config.webhook"].secret).toEqual(hashedSecret(tricky));
  });
});
