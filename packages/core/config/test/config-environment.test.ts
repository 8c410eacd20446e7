// behaviour, Environment: SVC__ beats the named variables, which beat the file (A) or fill its gaps (mailpush).
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { formatProblems, hashedSecret, variableName, walkSchema } from "../src/index.ts";
import { FEATURES, mailpush, makeFixture, PROVIDER_A, providerA } from "./config-fixtures.ts";

const fixture = makeFixture();
afterAll(() => fixture.remove());

const APP_SECRET = "SVC_PROVIDER_A_APP_SECRET";
const OAUTH = "MAILPUSH_OAUTH_TOKEN";
const MAILPUSH = "[channels_config.mailpush]\nenabled = true\ntopic = 't'\n";

describe("the variables that the specification names", () => {
  const secretOfA = async (env: Record<string, string>, more = "") =>
    ((await fixture.load(env, PROVIDER_A + more)).configOf(providerA) as { app_secret?: string }).app_secret;
  const tokenOfMailpush = async (env: Record<string, string>, more = "") =>
    ((await fixture.load(env, MAILPUSH + more)).configOf(mailpush) as { oauth_token?: string }).oauth_token;

  test("override: the variable beats the file", async () => {
    expect(await secretOfA({ [APP_SECRET]: "env" })).toBe("env");
    expect(await secretOfA({ [APP_SECRET]: "env" }, "app_secret = 'file'")).toBe("env");
  });

  test("fallback: it counts only when the file is silent, and a blank value is silence", async () => {
    expect(await tokenOfMailpush({ [OAUTH]: "env" })).toBe("env");
    expect(await tokenOfMailpush({ [OAUTH]: "env" }, "oauth_token = 'file'")).toBe("file");
    expect(await tokenOfMailpush({ [OAUTH]: "env" }, "oauth_token = ' '")).toBe("env");
  });

  test("a blank variable is none: it neither sets a secret nor takes one away", async () => {
    expect(await secretOfA({ [APP_SECRET]: " " }, "app_secret = 'file'")).toBe("file");
    expect(await secretOfA({ [APP_SECRET]: "" })).toBeUndefined();
    const blank = { SVC__CHANNELS_CONFIG__PROVIDER_A__APP_SECRET: "" };
    expect(await secretOfA(blank, "app_secret = 'file'")).toBe("file");
  });

  test("SVC__ beats both kinds, and the file", async () => {
    const a = { [APP_SECRET]: "env", SVC__CHANNELS_CONFIG__PROVIDER_A__APP_SECRET: "prefixed" };
    expect(await secretOfA(a, "app_secret = 'file'")).toBe("prefixed");
    const mail = { [OAUTH]: "env", SVC__CHANNELS_CONFIG__MAILPUSH__OAUTH_TOKEN: "prefixed" };
    expect(await tokenOfMailpush(mail, "oauth_token = 'file'")).toBe("prefixed");
  });

  test("they bring no section into being", async () => {
    const config = await fixture.load({ [APP_SECRET]: "env", [OAUTH]: "env" }, "");
    expect(config.enabled(providerA)).toBe(false);
    expect(config.redacted()["channels_config"]).toEqual({ webhook: {} });
  });

  test("who set a key is told, the file's beaten secret is still known to the redactor", async () => {
    const config = await fixture.load({ [APP_SECRET]: "from-env" }, `${PROVIDER_A}app_secret = 'from-file'`);
    expect(config.setBy("channels_config.provider_a.app_secret")).toBe(APP_SECRET);
    expect(config.setBy("channels_config.provider_a.access_token")).toBeUndefined();
    expect(config.secrets()).toEqual(expect.arrayContaining(["from-env", "from-file", "token-of-a", "verify-of-a"]));
  });
});

describe("SVC__ overrides", () => {
  test("every kind of value", async () => {
    const config = await fixture.load(
      {
        SVC__GATEWAY__PORT: " 8080 ",
        SVC__GATEWAY__REQUIRE_PAIRING: "FALSE",
        SVC__GATEWAY__HOST: "::1",
        SVC__GATEWAY__ALLOWED_HOSTS: "a, b,",
        SVC__GATEWAY__TRUSTED_PROXIES: '["::1/128"]',
        SVC__TOOLS__DISABLED: "",
        SVC__SECURITY__POLICY__AUTONOMY: "full",
        SVC__MODEL__PRICE__INPUT_PER_MILLION: "1e-1",
        SVC__MODEL__PRICE: '{"input_per_million": 9, "output_per_million": 2.5}',
        SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: "true",
      },
      "[gateway]\nport = 1\n[tools]\ndisabled = ['x']",
    );
    expect(config.core.gateway).toMatchObject({
      port: 8080,
      require_pairing: false,
      host: "::1",
      allowed_hosts: ["a", "b"],
      trusted_proxies: ["::1/128"],
    });
    expect(config.core.tools.disabled).toEqual([]);
    expect(config.core["security.policy"].autonomy).toBe("full");
    expect(config.core.model.price).toEqual({ input_per_million: 0.1, output_per_million: 2.5 });
    expect(config.core["channels_config.webhook"].secret).toEqual(hashedSecret("true"));
  });

  test("records keep the file's spelling, lists take tables as JSON, unions take what fits", async () => {
    const config = await fixture.load(
      {
        SVC__SHAPES__ACCOUNTS__SOMEONE__USER: "u",
        SVC__SHAPES__ACCOUNTS__OTHER__PASSWORD: "p2",
        SVC__SHAPES__BOARDS: '[{"board":"b"}]',
        SVC__SHAPES__EITHER: "7",
      },
      "[shapes.accounts.Someone]\npassword = 'p1'",
    );
    expect(config.section("shapes")).toMatchObject({
      accounts: { Someone: { password: "p1", user: "u" }, other: { password: "p2" } },
      boards: [{ board: "b", transport: "serial", baud: 9600 }],
      either: 7,
    });
  });

  test("they can make a section, and then answer for its required keys", async () => {
    const problems = await fixture.problems("", { SVC__CHANNELS_CONFIG__PROVIDER_A__PHONE_NUMBER_ID: "1" });
    expect(problems.map(({ key }) => key)).toEqual([
      "channels_config.provider_a.access_token",
      "channels_config.provider_a.verify_token",
    ]);
  });

  test("mistakes name the variable and what was meant, never the value", async () => {
    const problems = await fixture.problems("gateway = 5", {
      SVC__GATEWAY_PORT: "value-one",
      SVC__GATEWAY__PROT: "value-two",
      SVC__GATEWAY: "value-three",
      SVC__: "value-four",
      SVC__LOG__LEVEL: "value-five",
      SVC__MODEL__MAX_RETRIES: "value-six",
      SVC__MODEL__MAX_OUTPUT_TOKENS: "0",
      SVC__CHANNELS_CONFIG__FEDERATED__ROOM_ID: "value-seven",
      SVC__TOOLS__DISABLED: "[value-eight",
      SVC__GATEWAY__PORT__X: "value-nine",
    });
    expect(
      Object.fromEntries(problems.map(({ env = "file", message, didYouMean }) => [env, didYouMean ?? message])),
    ).toEqual({
      file: "must be a table",
      SVC__GATEWAY_PORT: "SVC__GATEWAY__PORT",
      SVC__GATEWAY__PROT: "SVC__GATEWAY__PORT",
      SVC__GATEWAY: "this is a section; set its keys one by one",
      SVC__: "no key has such a name",
      SVC__LOG__LEVEL: "must be one of the values allowed",
      SVC__MODEL__MAX_RETRIES: "must be a whole number",
      SVC__MODEL__MAX_OUTPUT_TOKENS: "must be a whole number",
      SVC__CHANNELS_CONFIG__FEDERATED__ROOM_ID: expect.stringContaining("not in this build"),
      SVC__TOOLS__DISABLED: "must be a list, each item text",
      SVC__GATEWAY__PORT__X: "SVC__GATEWAY__PORT",
    });
    expect(formatProblems(problems)).not.toContain("value-");
  });

  test("two spellings of one key are refused", async () => {
    const problems = await fixture.problems("", { SVC__LOG__LEVEL: "info", SVC__Log__Level: "debug" });
    expect(problems).toMatchObject([{ env: "SVC__Log__Level", message: "set by two variables" }]);
  });

  test("JSON can't reach a prototype", async () => {
    const problems = await fixture.problems("", {
      SVC__MODEL__PRICE: '{"__proto__":{"polluted":1},"input_per_million":1,"output_per_million":1}',
      SVC__SHAPES__ACCOUNTS__CONSTRUCTOR__PASSWORD: "p",
      SVC____PROTO____POLLUTED: "1",
    });
    expect(problems.map(({ key }) => key).sort()).toEqual(["", "model.price.__proto__", "shapes.accounts.constructor"]);
    expect("polluted" in {}).toBe(false);
  });

  test("every key of the walk has a variable that reaches it", async () => {
    const keys = walkSchema(FEATURES).filter(({ path }) => !path.includes("[]") && !path.includes("*"));
    expect(keys.length).toBeGreaterThan(50);
    const unreached: string[] = [];
    for (const key of keys) {
      const problems = await fixture.problems("", { [variableName(key)]: "\u0000" });
      const elsewhere = problems.some(
        ({ key: told, message }) => !told.startsWith(key.section) || /unknown/.test(message),
      );
      if (elsewhere) unreached.push(key.key);
    }
    expect(unreached).toEqual([]);
  });

  test("a single underscore is not read, and that is said", async () => {
    const { warnings } = await fixture.load({ SVC_GATEWAY_PORT: "1", SVC_HOME: "/x", [APP_SECRET]: "long enough" }, "");
    expect(warnings).toEqual(["SVC_GATEWAY_PORT is not read; did you mean SVC__GATEWAY__PORT?"]);
  });

  test("property: whatever the environment holds, the answer is a config or problems without its values", async () => {
    const keys = walkSchema(FEATURES).map(variableName);
    const name = fc.oneof(
      fc.constantFrom(...keys),
      fc.string({ unit: "grapheme" }).map((rest) => `SVC__${rest}`),
      fc.tuple(fc.constantFrom(...keys), fc.string()).map(([key, rest]) => `${key}__${rest}`),
    );
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.constantFrom("1", "true", "[1]", "{}", "-0", "1e999"),
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value, { maxKeys: 5 }), async (env) => {
        const marked = Object.fromEntries(Object.entries(env).map(([key, text]) => [key, `${text}~planted-value~`]));
        await fixture.problems("[shapes]", env);
        expect(JSON.stringify(await fixture.problems("[shapes]", marked))).not.toContain("planted-value");
      }),
      { numRuns: cases(150) },
    );
  });
});
