// behaviour, vectors secrets.format: enc2: values open with this home's key, or fail and say which key can't be read.
import * as fc from "fast-check";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { inspect } from "node:util";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openSecret, openSecretKey, sealSecret } from "../src/index.ts";
import { makeSecretKey } from "../src/secrets/key-ring.ts";
import { makeFixture, PROVIDER_A } from "./config-fixtures.ts";

const fixture = makeFixture();
const { home } = fixture;
afterAll(() => fixture.remove());
beforeEach(() => rmSync(home.secretKey, { recursive: true, force: true }));

interface Vector {
  readonly name: string;
  readonly input: { readonly stored?: string; readonly plaintext_length?: number };
  readonly expected: string & { readonly regex: string; readonly hex_length: number; readonly error_names: string[] };
}
const file = new URL("../../../tooling/testkit/vectors/conformance.json", import.meta.url);
const { groups } = JSON.parse(readFileSync(file, "utf8")) as { groups: { id: string; cases: Vector[] }[] };
const vector = (name: string): Vector => {
  const found = groups.find(({ id }) => id === "secrets.format")?.cases.find((each) => each.name === name);
  if (!found) throw new Error(`no vector ${name}`);
  return found;
};

const unreadable = expect.objectContaining({ code: "SECRET_UNREADABLE" });
const flip = (sealed: string, byte: number): string => {
  const bytes = Buffer.from(sealed.slice(5), "hex");
  bytes[byte] = (bytes[byte] ?? 0) ^ 1;
  return `enc2:${bytes.toString("hex")}`;
};

describe("the format", () => {
  test("format", () => {
    const { input, expected } = vector("format");
    const sealed = sealSecret(openSecretKey(home, { create: true }), "x".repeat(input.plaintext_length ?? 0));
    expect(sealed).toMatch(new RegExp(expected.regex));
    expect(sealed.length - "enc2:".length).toBe(expected.hex_length);
  });

  test("plaintext_passthrough", () => {
    const { input, expected } = vector("plaintext_passthrough");
    expect(openSecret(openSecretKey(home, { create: true }), input.stored ?? "")).toBe(expected);
  });

  test("tamper: a flipped bit anywhere is found", () => {
    const key = openSecretKey(home, { create: true });
    const sealed = sealSecret(key, "0123456789");
    for (let byte = 0; byte < 38; byte += 1) expect(() => openSecret(key, flip(sealed, byte))).toThrow(unreadable);
  });

  test("truncated, also where the hex goes on with something else", () => {
    const key = openSecretKey(home, { create: true });
    expect(() => openSecret(key, vector("truncated").input.stored ?? "")).toThrow(unreadable);
    const sealed = sealSecret(key, "0123456789");
    for (const cut of [sealed.slice(0, -2), sealed.slice(0, -1), `${sealed}zz`, `${sealed} `, "enc2:"]) {
      expect(() => openSecret(key, cut)).toThrow(unreadable);
    }
  });

  test("property: what is sealed opens again, to the same text, and never looks the same twice", () => {
    const key = openSecretKey(home, { create: true });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        // A lone surrogate can't be written as UTF-8.
        const wellFormed = text.toWellFormed();
        const sealed = sealSecret(key, wellFormed);
        expect(openSecret(key, sealed)).toBe(wellFormed);
        expect(sealSecret(key, wellFormed)).not.toBe(sealed);
      }),
    );
  });
});

describe("the key file", () => {
  test("is made once, 32 bytes as hex, and shows nothing of itself", () => {
    expect(() => openSecretKey(home, { create: false })).toThrow(unreadable);
    const key = openSecretKey(home, { create: true });
    const hex = readFileSync(home.secretKey, "utf8").trim();
    expect(hex).toMatch(/^[0-9a-f]{64}$/);
    expect(openSecretKey(home, { create: true }).equals(key)).toBe(true);
    expect(inspect(key, { showHidden: true })).not.toContain(hex);
  });

  test("is its owner's alone", (context) => {
    context.skip(process.platform === "win32", "Windows has no permission bits");
    openSecretKey(home, { create: true });
    expect(statSync(home.secretKey).mode & 0o777).toBe(0o600);
  });

  test("one that holds no key is refused and left alone", () => {
    for (const text of ["", "00".repeat(31), "zz".repeat(32), `${"00".repeat(32)}00`]) {
      writeFileSync(home.secretKey, text, { mode: 0o600 });
      expect(() => openSecretKey(home, { create: true })).toThrow(unreadable);
      expect(readFileSync(home.secretKey, "utf8")).toBe(text);
    }
    rmSync(home.secretKey);
    mkdirSync(home.secretKey);
    expect(() => openSecretKey(home, { create: true })).toThrow(unreadable);
  });
});

describe("in a config", () => {
  const sealedConfig = (seal: (text: string) => string) => `[channels_config.provider_a]
access_token = "${seal("the-access-token")}"
phone_number_id = "1"
verify_token = "${seal("the-verify-token")}"
[shapes]
keys = ["plain-key", "${seal("the-third")}"]
`;

  test("sealed values arrive in plain text, are known as secrets, and shown as dots", async () => {
    const key = openSecretKey(home, { create: true });
    const config = await fixture.load(
      {},
      sealedConfig((text) => sealSecret(key, text)),
    );
    expect(config.section("channels_config.provider_a")).toMatchObject({ access_token: "the-access-token" });
    expect(config.section("shapes")).toMatchObject({ keys: ["plain-key", "the-third"] });
    expect(config.secrets()).toEqual(expect.arrayContaining(["the-access-token", "the-verify-token", "the-third"]));
    expect(JSON.stringify(config.redacted())).not.toMatch(/the-|plain-key|enc2/);
  });

  test("decrypt_failure_names_the_key: one error with every key's path, and .secret_key", async () => {
    const key = openSecretKey(home, { create: true });
    const toml = sealedConfig((text) => sealSecret(key, text));
    rmSync(home.secretKey);
    openSecretKey(home, { create: true });
    const error = await fixture.load({}, toml).catch((error: unknown) => error as Error);
    expect(error).toEqual(unreadable);
    for (const name of [
      "channels_config.provider_a.access_token",
      "channels_config.provider_a.verify_token",
      "shapes.keys[1]",
    ]) {
      expect((error as Error).message).toContain(name);
    }
    const [, dotted] = vector("decrypt_failure_names_the_key").expected.error_names;
    expect((error as Error).message).toContain(dotted);
  });

  test("what is wrong with the key file is said with each key and its line, and what to do", async (context) => {
    context.skip(process.platform === "win32", "Windows has no permission bits");
    const toml = sealedConfig((text) => sealSecret(openSecretKey(home, { create: true }), text));
    const own = readFileSync(home.secretKey, "utf8");
    const told = async (change: () => void) => {
      rmSync(home.secretKey, { recursive: true, force: true });
      change();
      const lines = await fixture.lines(toml);
      expect(lines).toHaveLength(3);
      expect(lines.map((line) => /^config\.toml:\d+ {2}\S+: encrypted, and can't be opened: /.exec(line)?.[0])).toEqual(
        [
          "config.toml:2  channels_config.provider_a.access_token: encrypted, and can't be opened: ",
          "config.toml:4  channels_config.provider_a.verify_token: encrypted, and can't be opened: ",
          "config.toml:6  shapes.keys[1]: encrypted, and can't be opened: ",
        ],
      );
      return lines[0]!.slice(lines[0]!.indexOf("opened: ") + 8).replaceAll(home.secretKey, "KEY");
    };
    const write = (text: string, mode: number) => () => writeFileSync(home.secretKey, text, { mode });
    const anew = "set the secrets anew: svc secrets set <key>.";
    expect(await told(() => {})).toBe(`KEY is missing. Restore it from a backup, or ${anew}`);
    expect(await told(write("\n", 0o600))).toBe(`KEY is empty. Restore it from a backup, or move it away and ${anew}`);
    expect(await told(write("half", 0o600))).toContain("KEY holds no key (64 hex digits). Restore it from a backup");
    expect(
      await told(
        write(
          own.replace(/./, (digit) => (digit === "0" ? "1" : "0")),
          0o600,
        ),
      ),
    ).toBe(`KEY is not the key that encrypted this, or the value is damaged. Restore it from a backup, or ${anew}`);
    for (const mode of [0o604, 0o640, 0o620, 0o601]) {
      expect(
        await told(() => {
          write(own, 0o600)();
          chmodSync(home.secretKey, mode);
        }),
      ).toBe("KEY is open to other users. Run: chmod 600 KEY");
    }
    expect(await told(() => mkdirSync(home.secretKey, { mode: 0o700 }))).toContain("KEY can't be read.");
    rmSync(home.secretKey, { recursive: true });
    write(own, 0o400)();
    expect(await fixture.lines(toml)).toEqual([]);
  });

  test("a missing key file is said the same way, beside the other problems", async () => {
    const problems = await fixture.problems(`[shapes]\nkeys = ["enc2:${"00".repeat(40)}"]\nkyes = 1\n`);
    expect(problems.map(({ code, line }) => [code, line])).toEqual([
      ["SECRET_UNREADABLE", 2],
      ["CONFIG_INVALID", 3],
    ]);
  });

  test("a key file open to others is warned about while nothing is sealed with it", async (context) => {
    context.skip(process.platform === "win32", "Windows has no permission bits");
    const key = openSecretKey(home, { create: true });
    fixture.write(`[channels_config.webhook]\nsecret = "${sealSecret(key, "long enough")}"`);
    // Sealed, the file may be read by others.
    chmodSync(home.config, 0o644);
    expect((await fixture.load()).warnings).toEqual([]);
    chmodSync(home.secretKey, 0o644);
    expect((await fixture.load({}, "[gateway]")).warnings).toEqual([
      expect.stringContaining(".secret_key is open to other users"),
    ]);
  });

  test("one that the log can't be kept clean of is warned about by its key, wherever it comes from, sealed or not", async () => {
    const key = openSecretKey(home, { create: true });
    const sealed = PROVIDER_A.replace("verify-of-a", sealSecret(key, "12 "));
    const toml = `${sealed}[shapes]\nkeys = ["long enough", "xyz"]\n[channels_config.webhook]\nsecret = "enough"\n`;
    const config = await fixture.load({ SVC__CHANNELS_CONFIG__WEBHOOK__SECRET: "€" }, toml);
    const short = ["channels_config.provider_a.verify_token", "channels_config.webhook.secret", "shapes.keys[1]"];
    expect(config.shortSecrets().toSorted()).toEqual(short);
    expect(config.warnings.toSorted()).toEqual(
      short.map((name) => `${name} has fewer than four characters: too short to be kept out of the log`),
    );
  });

  test("a home where no key can be made is said in words", () => {
    fixture.write("");
    const refused = expect.objectContaining({ code: "HOME_UNWRITABLE" });
    expect(() => makeSecretKey(`${home.config}/.secret_key`)).toThrow(refused);
  });

  test("a blank secret is unset, and missing where it is required, sealed or not", async () => {
    const key = openSecretKey(home, { create: true });
    const blank = PROVIDER_A.replace("token-of-a", "  ").replace("verify-of-a", sealSecret(key, ""));
    const problems = await fixture.problems(`${blank}app_secret = ""\n[shapes]\nkeys = ["", "k"]\n`);
    expect(problems.map(({ key }) => key)).toEqual([
      "channels_config.provider_a.access_token",
      "channels_config.provider_a.verify_token",
    ]);
    const config = await fixture.load({}, `${PROVIDER_A}app_secret = ""\n[shapes]\nkeys = ["", "k", " "]\n`);
    expect(config.section("channels_config.provider_a")).not.toHaveProperty("app_secret");
    expect(config.section("shapes")).toMatchObject({ keys: ["k"] });
  });
});
