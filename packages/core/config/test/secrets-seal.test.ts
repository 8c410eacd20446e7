// attack this exists for: a backup or a screen-share of config.toml. Sealed, it holds no secret; and nothing else has changed.
import type { Clock } from "@svc/contract";
import {
  chmodSync,
  chownSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ConfigError, openSecretKey, sealConfigFile, sealSecret, setConfigSecret } from "../src/index.ts";
import { withChangeLock } from "../src/write-config.ts";
import { FEATURES, makeFixture, meddler, unknownIn } from "./config-fixtures.ts";

const fixture = makeFixture();
const { home } = fixture;
afterAll(() => fixture.remove());
beforeEach(() => rmSync(home.secretKey, { force: true }));

const seal = () => sealConfigFile({ home, features: FEATURES });
const text = () => readFileSync(home.config, "utf8");

describe("sealing a config", () => {
  test("changes the value tokens of secrets and nothing else, however they are written", async () => {
    const parts = [
      `# head\r\n[model]\r\n  api_key   =   "`,
      `" # why\r\n[channels_config]\r\nwebhook = { secret = '`,
      `' , signing_secret = """\\\r\n   `,
      `""" }\r\nprovider_a.access_token = '''`,
      `'''\r\nprovider_a . "verify_token" = "`,
      `"\r\nprovider_a.phone_number_id = "1"\r\n[shapes]\r\nkeys = [ # first\r\n  "`,
      `", # second\r\n  '`,
      `',\r\n]\r\neither.pin = '`,
      `'\r\n[shapes.accounts."o'neil é"]\r\npassword = "`,
      `"\r\n[[shapes.boards]]\r\nboard = "b"\r\ntoken = "`,
      `"\r\n[agents.helper.model]\r\napi_key = "`,
      `"\r\n# tail`,
    ];
    const secrets = parts.slice(1).map((_part, index) => `secret-number-${index}`);
    const plain = parts.reduce((before, part, index) => `${before}secret-number-${index - 1}${part}`);
    fixture.write(plain);
    const before = await fixture.load();
    const { sealed, stillIn } = await seal();
    expect(sealed).toEqual([
      "model.api_key",
      "channels_config.webhook.secret",
      "channels_config.webhook.signing_secret",
      "channels_config.provider_a.access_token",
      "channels_config.provider_a.verify_token",
      "shapes.keys[0]",
      "shapes.keys[1]",
      "shapes.either.pin",
      'shapes.accounts."o\'neil \\u00e9".password',
      "shapes.boards[0].token",
      "agents.helper.model.api_key",
    ]);
    expect(stillIn).toEqual([]);
    const bare = (part: string) => part.replace(/(?:"""\\\r\n {3}|'''|"|')$/, "").replace(/^(?:"""|'''|"|')/, "");
    expect(text().split(/"enc2:[0-9a-f]+"/)).toEqual(parts.map(bare));
    const after = await fixture.load();
    expect(unknownIn(after, secrets)).toEqual([]);
    for (const name of after.sectionNames()) expect(after.hash(name)).toBe(before.hash(name));
  });

  test("done twice is done once", async () => {
    fixture.write("[model]\napi_key = 'k1'\n");
    expect((await seal()).sealed).toEqual(["model.api_key"]);
    const [once, inode] = [text(), statSync(home.config).ino];
    expect(await seal()).toEqual({ sealed: [], stillIn: [] });
    expect([text(), statSync(home.config).ino]).toEqual([once, inode]);
  });

  test("makes no key and writes no file where there is nothing to seal", async () => {
    fixture.write("[model]\napi_key = ' '\n[gateway]\nhost = 'plain'\n");
    expect(await seal()).toEqual({ sealed: [], stillIn: [] });
    expect(statSync(home.secretKey, { throwIfNoEntry: false })).toBeUndefined();
  });

  test("says where the same text still stands", async () => {
    fixture.write(
      "[model]\n# was sk-0123456789\napi_key = 'sk-0123456789'\nname = 'sk-0123456789'\n[channels_config.webhook]\nsecret = 'web'\n# web\n",
    );
    expect((await seal()).stillIn).toEqual([2, 4]);
  });

  test("a byte order mark stays, a file without a last line break too", async () => {
    fixture.write("\ufeff[model]\napi_key = 'k'");
    await seal();
    expect(text()).toMatch(/^\ufeff\[model\]\napi_key = "enc2:[0-9a-f]+"$/);
  });

  test("what is sealed already and can't be opened is told, and no key is made beside a lost one", async () => {
    const sealed = sealSecret(openSecretKey(home, { create: true }), "lost");
    rmSync(home.secretKey);
    fixture.write(`[model]\napi_key = "${sealed}"\n[channels_config.webhook]\nsecret = "web"\n`);
    const before = text();
    const error = await seal().catch((error: unknown) => error as ConfigError);
    expect((error as ConfigError).problems).toMatchObject([
      { code: "SECRET_UNREADABLE", line: 2, key: "model.api_key" },
    ]);
    expect(text()).toBe(before);
    expect(statSync(home.secretKey, { throwIfNoEntry: false })).toBeUndefined();
  });

  test("a config that is no TOML is left alone, and told without a word of it", async () => {
    fixture.write("[model]\napi_key = sk-planted\n");
    const error = await seal().catch((error: unknown) => error as ConfigError);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", problems: [{ line: 2 }] });
    expect((error as ConfigError).message).not.toContain("planted");
  });
});

describe("the file", () => {
  const plain = "[model]\napi_key = 'k'\n";

  test("is closed to others, and never opened wider than it was", async (context) => {
    context.skip(process.platform === "win32", "Windows has no permission bits");
    const modes = [];
    for (const mode of [0o600, 0o644, 0o666, 0o400, 0o700]) {
      fixture.write(plain);
      chmodSync(home.config, mode);
      await seal().catch(() => undefined);
      modes.push(statSync(home.config).mode & 0o777);
    }
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o400, 0o600]);
  });

  test("of a service stays readable to it when the superuser fixes it", async (context) => {
    context.skip(process.geteuid?.() !== 0, "only the superuser can give a file away");
    fixture.write(plain);
    chownSync(home.config, 12_345, 12_346);
    chmodSync(home.config, 0o644);
    await seal();
    const { uid, gid, mode } = statSync(home.config);
    expect([uid, gid, mode & 0o777]).toEqual([12_345, 12_346, 0o640]);
  });

  test("behind a symbolic link is the one that is changed, and the link stays", async (context) => {
    context.skip(process.platform === "win32", "links need a privilege on Windows");
    const target = join(home.root, "dotfiles.toml");
    writeFileSync(target, plain, { mode: 0o600 });
    rmSync(home.config, { force: true });
    symlinkSync(target, home.config);
    await seal();
    expect(lstatSync(home.config).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toContain("enc2:");
    rmSync(home.config);
  });

  const sealWhile = (change: () => void) => sealConfigFile({ home, features: [meddler(2, change)] });

  test("changed by somebody else between reading and writing stays as they wrote it", async () => {
    for (const theirs of ["[model]\napi_key = 'theirs'\n", "\ufeff[model]\napi_key = 'k'\n", "not toml"]) {
      fixture.write(plain);
      const sealing = sealWhile(() => writeFileSync(home.config, theirs));
      await expect(sealing).rejects.toMatchObject({ code: "CONFIG_CHANGED" });
      expect(text()).toBe(theirs);
    }
  });

  test("removed, or replaced as editors do, is no different", async () => {
    fixture.write(plain);
    const replaced = sealWhile(() => {
      writeFileSync(`${home.config}.new`, "[log]\n");
      renameSync(`${home.config}.new`, home.config);
    });
    await expect(replaced).rejects.toMatchObject({ code: "CONFIG_CHANGED" });
    expect(text()).toBe("[log]\n");
    fixture.write(plain);
    const removed = sealWhile(() => rmSync(home.config));
    await expect(removed).rejects.toMatchObject({ code: "CONFIG_UNWRITABLE" });
  });

  test("that another command holds on to is given up, in words", async () => {
    let seconds = 0;
    const clock: Clock = {
      now: () => 0,
      monotonic: () => (seconds += 1) * 1000,
      after: () => () => {},
      sleep: () => Promise.resolve(),
    };
    await withChangeLock(home, async () => {
      const second = withChangeLock(home, () => Promise.resolve("never"), clock);
      await expect(second).rejects.toThrow("Another svc command is changing the config all the time.");
    });
    expect(await withChangeLock(home, () => Promise.resolve("free again"), clock)).toBe("free again");
    const failed = withChangeLock(home, () => Promise.reject(new Error("why")), clock);
    await expect(failed).rejects.toThrow("why");
    expect(await withChangeLock(home, () => Promise.resolve("and again"), clock)).toBe("and again");
  });

  test("is changed by one command at a time, and the next one sees what it did", async () => {
    fixture.write(plain);
    const settings = ["one", "two", "three"].map((name) =>
      setConfigSecret({ home, features: [], key: `agents.${name}.model.api_key`, value: name, env: {} }),
    );
    await Promise.all([seal(), ...settings]);
    const { agents, model } = (await fixture.load()).core;
    expect(model.api_key).toBe("k");
    expect(Object.keys(agents).toSorted()).toEqual(["one", "three", "two"]);
  });
});
