// behaviour: every problem of a config is told at once, with its line, the key, what is allowed, and no value.
import { SvcError } from "@svc/contract";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError, formatProblems, loadConfig } from "../src/index.ts";
import { CATALOGUE, FEATURES, makeFixture, PROVIDER_A } from "./config-fixtures.ts";

const fixture = makeFixture();
afterAll(() => fixture.remove());

describe("problems", () => {
  test("all of them come at once, in the order of the file", async () => {
    const told = await fixture.lines(`[gateway]
prot = 1
port = "8080"
hsot = "x"

[gatway]
port = 1

[security.policy]
autonomy = "superviced"
`);
    expect(told).toEqual([
      'config.toml:2  gateway.prot: unknown key; did you mean "port"? (allowed: host, port, allow_public_bind, public_url, …)',
      "config.toml:3  gateway.port: must be a whole number (allowed: 0 to 65535)",
      'config.toml:4  gateway.hsot: unknown key; did you mean "host"? (allowed: host, port, allow_public_bind, public_url, …)',
      'config.toml:6  gatway: unknown section; did you mean "gateway"? (allowed: gateway, daemon, log, workspace, …)',
      'config.toml:10  security.policy.autonomy: must be one of the values allowed; did you mean "supervised"? ' +
        "(allowed: read_only, supervised, full)",
    ]);
  });

  test("the error carries them, names the file and has the exit code of a bad config", async () => {
    fixture.write("[gateway]\nport = -1\n");
    const error = await fixture.load().catch((error: unknown) => error as ConfigError);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", exitCode: 78 });
    expect((error as ConfigError).message).toBe(
      `${fixture.home.config} has a problem:\n  config.toml:2  gateway.port: must be a whole number (allowed: 0 to 65535)`,
    );
    expect((error as ConfigError).problems).toMatchObject([{ file: fixture.home.config, line: 2, column: 8 }]);
  });

  test("names that every object inherits are keys like others, and nothing is written into Object", async () => {
    const told = await fixture.lines(
      "[constructor]\nsvc_polluted = 1\n[gateway]\n__proto__ = { host = 1 }\ntoString.x = 1\n",
    );
    expect(told.map((line) => line.replace(/ \(allowed.*/, ""))).toEqual([
      "config.toml:1  constructor: unknown section",
      "config.toml:4  gateway.__proto__: unknown key",
      "config.toml:5  gateway.toString: unknown key",
    ]);
    await fixture.lines(String.raw`["\u0063onstructor"]${"\n"}svc_polluted = 1`);
    expect("svc_polluted" in Object).toBe(false);
    expect("host" in {}).toBe(false);
  });

  test.each([
    ["a key", `${"a.".repeat(50_000)}b = 1`],
    ["lists", `a = ${"[".repeat(50_000)}${"]".repeat(50_000)}`],
    ["tables", `a = ${"{a=".repeat(20_000)}1${"}".repeat(20_000)}`],
  ])("%s nested thousands deep are refused", async (_what, toml) => {
    expect(await fixture.problems(toml)).toMatchObject([{ message: "tables or lists are nested too deeply" }]);
  });

  test("unknown keys inside lists, inline tables and records are found, each at its place", async () => {
    const told = await fixture.problems(`[shapes]
either = { pin = "p", pen = 1, pan = 2 }
[shapes.accounts.someone]
password = "p"
pasword = "p"
[shapes.accounts.prototype]
password = "p"
[[shapes.boards]]
board = "one"
[[shapes.boards]]
board = "two"
bord = "x"
`);
    expect(told.map(({ key, line }) => [key, line])).toEqual([
      ["shapes.either.pen", 2],
      ["shapes.either.pan", 2],
      ["shapes.accounts.someone.pasword", 5],
      ["shapes.accounts.prototype", 6],
      ["shapes.boards[1].bord", 12],
    ]);
  });

  test("a check over several keys says the author's sentence", async () => {
    expect(await fixture.lines("[shapes]\nlow = 2\nhigh = 1\n")).toEqual([
      "config.toml:1  shapes: low must not exceed high",
    ]);
  });

  test("a fragment of an author completes the sentence, with the item's place", async () => {
    expect(await fixture.lines(`${PROVIDER_A}allowed_numbers = ["+1", "two"]\nsession_path = "x"`)).toEqual([
      "config.toml:5  channels_config.provider_a.allowed_numbers[1]: must be an E.164 number or *",
      expect.stringContaining(
        "unknown key (provider-a-web, not in this build, adds keys to [channels_config.provider_a])",
      ),
    ]);
  });

  test.each([
    ["gateway = 1", "gateway: must be a table"],
    ["[[gateway]]\nport = 1", "gateway: must be a table"],
    ["security = []", "security: must be a table"],
    ["[security]\nx = 1", "security.x: unknown key (allowed: policy, sandbox, net)"],
    ["[model]\nprice = 3", "model.price: must be a table"],
    [
      "[model]\nprice = { input_per_million = inf, output_per_million = 1 }",
      "model.price.input_per_million: must be a number (allowed: 0 or more)",
    ],
    ["[model]\nprice = { input_per_million = 1 }", "model.price.output_per_million: is required"],
    ["[gateway]\nport = 99999999999999999999", "gateway.port: must be a whole number (allowed: 0 to 65535)"],
    ["[gateway]\nport = 1.5", "gateway.port: must be a whole number (allowed: 0 to 65535)"],
    ["[gateway]\nport = 1979-05-27", "gateway.port: must be a whole number (allowed: 0 to 65535)"],
    ["[gateway]\nhost = nan", "gateway.host: must be text"],
    [
      "[gateway]\npublic_url = 'https://user:pass@h/'",
      "gateway.public_url: must be an http:// or https:// URL without a user name, password, query or fragment, in ASCII; a name of other letters begins with xn--",
    ],
    ["[tools]\ndisabled = 'x'", "tools.disabled: must be a list, each item text"],
  ])("%j", async (toml, told) => {
    expect((await fixture.lines(toml)).map((line) => line.replace(/^\S+ {2}/, ""))).toEqual([told]);
  });

  test.each([
    ["a = sk-value", 1, 5, "a value belongs here"],
    ["\n[gateway\n", 2, 8, "a table's name ends with ]"],
    ["a = 1\na = 2", 2, 1, "this key or table is there already"],
    ['a = "x', 1, 7, "a text is not closed by its quote"],
    ["a = 1979-99-99", 1, 14, "this is no number or date"],
    ["a =\n[b]", 1, 4, "a value belongs here"],
    ["[constructor]\na = \n", 3, 1, "a key needs"],
  ])("syntax: %j", async (toml, line, column, message) => {
    const problems = await fixture.problems(toml);
    expect(problems).toMatchObject([{ line, column, key: "", message: expect.stringContaining(message) }]);
    expect(formatProblems(problems)).toMatch(`config.toml:${line}:${column}  ${message}`);
  });
});

describe("values", () => {
  const vectors = JSON.parse(
    readFileSync(new URL("../../../tooling/testkit/vectors/conformance.json", import.meta.url), "utf8"),
  ) as { groups: { id: string; cases: { input: { configured: number }; expected: { max_keys: number } }[] }[] };
  const cases = vectors.groups.find(({ id }) => id === "rate_limit.max_keys")?.cases ?? [];

  test("vectors rate_limit.max_keys", async () => {
    expect(cases.length).toBeGreaterThan(0);
    for (const { input, expected } of cases) {
      const config = await fixture.load({}, `[gateway]\nrate_limit_max_keys = ${input.configured}`);
      expect(config.core.gateway.rate_limit_max_keys).toBe(expected.max_keys);
      expect(config.redacted()["gateway"]).toMatchObject({ rate_limit_max_keys: expected.max_keys });
    }
  });

  test("no room for idempotency keys is room for one", async () => {
    const config = await fixture.load({}, "[gateway]\nidempotency_max_keys = 0");
    expect(config.core.gateway.idempotency_max_keys).toBe(1);
  });

  test("nothing in a loaded config can be changed", async () => {
    const config = await fixture.load({}, "");
    expect(() => Object.assign(config.core.gateway, { require_pairing: false })).toThrow(TypeError);
    expect(() => Object.assign(config.core, { gateway: {} })).toThrow(TypeError);
    expect(() => (config.core.gateway.trusted_proxies as string[]).push("0.0.0.0/0")).toThrow(TypeError);
  });

  test("a hash differs when a value does, and only then", async () => {
    const one = await fixture.load({}, `[gateway]\nport = 1\nhost = "::1"\n${PROVIDER_A}`);
    const moved = await fixture.load({}, `${PROVIDER_A}[gateway]\n# moved\nhost = '::1'\nport = 1`);
    const other = await fixture.load({ SVC__GATEWAY__PORT: "2" }, `[gateway]\nport = 1\nhost = "::1"\n${PROVIDER_A}`);
    const rotated = await fixture.load({ SVC_PROVIDER_A_APP_SECRET: "new" }, `${PROVIDER_A}app_secret = 'old'`);
    const section = "channels_config.provider_a";
    const accounts = ["a.password = '1'", "b.password = '2'"];
    const records = [accounts, accounts.toReversed()].map((each) => `[shapes.accounts]\n${each.join("\n")}`);
    const [first, second] = [await fixture.load({}, records[0]), await fixture.load({}, records[1])];
    expect(second.hash("shapes")).toBe(first.hash("shapes"));
    expect(one.hash("gateway")).toMatch(/^[0-9a-f]{64}$/);
    expect(moved.hash("gateway")).toBe(one.hash("gateway"));
    expect(other.hash("gateway")).not.toBe(one.hash("gateway"));
    expect(other.hash(section)).toBe(one.hash(section));
    expect(rotated.hash(section)).not.toBe(one.hash(section));
  });

  test("CRLF, a byte order mark and [security.*] before [security] are no problem", async () => {
    const toml = "\ufeff# c\r\n[security.net] # c\r\nallow_private = [ # c\r\n'h:1']\r\n[security]\r\n";
    const config = await fixture.load({}, toml);
    expect(config.core["security.net"].allow_private).toEqual(["h:1"]);
  });
});

describe("the file", () => {
  test("a missing one is CONFIG_NOT_FOUND and says what to do", async () => {
    rmSync(fixture.home.config, { force: true });
    await expect(fixture.load()).rejects.toMatchObject({
      code: "CONFIG_NOT_FOUND",
      hint: expect.stringContaining("init"),
    });
  });

  test("a directory, a file too large and one that is not UTF-8 are problems of the file", async () => {
    const file = join(fixture.home.root, "other");
    const told = () =>
      loadConfig({ home: fixture.home, file, env: {}, features: FEATURES, catalogue: CATALOGUE }).catch(
        (error: unknown) => (error as SvcError).message.split("\n  ")[1],
      );
    mkdirSync(file);
    expect(await told()).toBe("other  this is a directory");
    rmSync(file, { recursive: true });
    writeFileSync(file, Buffer.from([0x61, 0x3d, 0x22, 0xff, 0x22]));
    expect(await told()).toBe("other  the file is not UTF-8 text");
    truncateSync(file, 5 * 1024 * 1024);
    expect(await told()).toBe("other  the file is larger than 4 MiB");
    rmSync(file);
    symlinkSync("/dev/zero", file);
    expect(await told()).toBe("other  the file is larger than 4 MiB");
    rmSync(file);
  });

  test("a FIFO is refused at once: a daemon that waited for its writer would answer nobody", async (context) => {
    context.skip(process.platform === "win32", "Windows has no FIFO");
    const file = join(fixture.home.root, "fifo");
    execFileSync("mkfifo", [file]);
    const load = loadConfig({ home: fixture.home, file, env: {}, features: FEATURES, catalogue: CATALOGUE });
    await expect(load).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("a pipe") });
  });

  test("open to others: said when it holds a plain secret, or can be changed", async (context) => {
    context.skip(process.platform === "win32", "Windows has no permission bits");
    const warned = async (toml: string, mode: number) => {
      fixture.write(toml);
      chmodSync(fixture.home.config, mode);
      return (await fixture.load()).warnings;
    };
    const secret = "[channels_config.webhook]\nsecret = 'long enough'";
    expect(await warned(secret, 0o600)).toEqual([]);
    expect(await warned(secret, 0o640)).toEqual([expect.stringContaining("holds secrets")]);
    expect(await warned("[gateway]", 0o644)).toEqual([]);
    expect(await warned("[gateway]", 0o622)).toEqual([expect.stringContaining("can be changed by other users")]);
  });
});
