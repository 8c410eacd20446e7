// The config file as the page edits it: a secret that can be read again, a lost comment or a file that no longer loads is the bug here.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ConfigEdit, ConfigError, setConfigSecret } from "../src/index.ts";
import { ConfigEditor, formSchema, type SettingsChange } from "../src/settings/index.ts";
import { CATALOGUE, FEATURES, type Fixture, makeFixture } from "./config-fixtures.ts";

const SECRET = "sk-live-0123456789abcdef";

function desk(toml: string, env: Record<string, string> = {}): Fixture & { editor: ConfigEditor; text: () => string } {
  const fixture = makeFixture();
  onTestFinished(() => fixture.remove());
  fixture.write(toml);
  const editor = new ConfigEditor({ home: fixture.home, env, features: FEATURES, catalogue: CATALOGUE, now: () => 0 });
  return { ...fixture, editor, text: () => readFileSync(fixture.home.config, "utf8") };
}

const edits = (...list: [(string | number)[], unknown][]): SettingsChange => ({
  edits: list.map(([path, value]) => (value === undefined ? { path, remove: true } : { path, value })) as ConfigEdit[],
});

async function save(editor: ConfigEditor, change: SettingsChange) {
  return editor.save(change, (await editor.preview(change)).revision, "desk");
}

describe("a change", () => {
  test("is shown as a diff, written with comments and order kept, and undone byte for byte", async () => {
    const before = "# mine\r\n[gateway]\r\nport = 42617 # the usual\r\n\r\n[log]\r\nlevel = 'info'\r\n";
    const { editor, text } = desk(before);
    const change = edits([["gateway", "port"], 8080], [["log", "level"], "debug"]);
    const { diff, problems } = await editor.preview(change);
    expect(problems).toEqual([]);
    expect(diff.filter(({ kind }) => kind !== "same")).toEqual([
      { kind: "removed", line: 3, text: "port = 42617 # the usual" },
      { kind: "added", line: 3, text: "port = 8080 # the usual" },
      { kind: "removed", line: 6, text: "level = 'info'" },
      { kind: "added", line: 6, text: 'level = "debug"' },
    ]);
    const saved = await save(editor, change);
    expect(text()).toBe(before.replace("42617", "8080").replace("'info'", '"debug"'));
    expect(editor.history()).toEqual([
      { version: saved.version, at: "1970-01-01T00:00:00.000Z", by: "desk", keys: ["gateway.port", "log.level"] },
    ]);
    await save(editor, { undo: saved.version! });
    expect(text()).toBe(before);
    expect(editor.history()).toHaveLength(2);
  });

  test("that can't be loaded is told with its line and not written", async () => {
    const { editor, text } = desk("[gateway]\nport = 1\n");
    const before = text();
    const change = edits([["gateway", "port"], "eighty"], [["gateway", "prot"], 1]);
    const { problems } = await editor.preview(change);
    expect(problems.map(({ line, key, didYouMean }) => [line, key, didYouMean])).toEqual([
      [2, "gateway.port", undefined],
      [3, "gateway.prot", "port"],
    ]);
    await expect(save(editor, change)).rejects.toBeInstanceOf(ConfigError);
    expect(text()).toBe(before);
    expect(editor.history()).toEqual([]);
  });

  test("of a file that an editor changed after the preview is refused; so is the later of two browsers", async () => {
    const { editor, text, home } = desk("[gateway]\nport = 1\n");
    const { revision } = await editor.preview(edits([["gateway", "port"], 2]));
    writeFileSync(home.config, "[gateway]\nport = 3 # by hand\n");
    await expect(editor.save(edits([["gateway", "port"], 2]), revision, "a")).rejects.toMatchObject({
      code: "CONFIG_CHANGED",
    });
    expect(text()).toContain("port = 3 # by hand");
    const seen = (await editor.state()).revision;
    const both = await Promise.allSettled([
      editor.save(edits([["gateway", "port"], 4]), seen, "a"),
      editor.save(edits([["gateway", "port"], 5]), seen, "b"),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("keeps a symbolic link and the mode, and is refused where the file is read-only", async () => {
    const { editor, home, text } = desk("[gateway]\nport = 1\n");
    const target = join(home.root, "elsewhere.toml");
    writeFileSync(target, text(), { mode: 0o600 });
    rmSync(home.config);
    symlinkSync(target, home.config);
    await save(editor, edits([["gateway", "port"], 2]));
    expect(lstatSync(home.config).isSymbolicLink()).toBe(true);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(readFileSync(target, "utf8")).toBe("[gateway]\nport = 2\n");
    const { revision } = await editor.state();
    chmodSync(target, 0o400);
    // To the superuser every file can be written.
    const isRoot = process.geteuid?.() === 0;
    const tried = await editor.save(edits([["gateway", "port"], 3]), revision, "a").catch((error: unknown) => error);
    expect(isRoot || (tried as { code?: string }).code === "CONFIG_UNWRITABLE").toBe(true);
  });

  test("is refused where no version of it can be kept, and nothing is written", async () => {
    const { editor, home, text } = desk("[gateway]\nport = 1\n");
    writeFileSync(join(home.root, "versions"), "no folder");
    await expect(save(editor, edits([["gateway", "port"], 2]))).rejects.toMatchObject({ code: "CONFIG_UNWRITABLE" });
    expect(text()).toBe("[gateway]\nport = 1\n");
    expect(readdirSync(home.root).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("can be taken back as long as nobody changed the file since", async () => {
    const { editor, home, text } = desk("[gateway]\nport = 1\n");
    const first = await save(editor, edits([["gateway", "port"], 2]));
    expect(await first.restore()).toBe(true);
    expect(text()).toBe("[gateway]\nport = 1\n");
    expect(editor.history()).toEqual([]);
    const second = await save(editor, edits([["gateway", "port"], 2]));
    writeFileSync(home.config, "[gateway]\nport = 9\n");
    expect(await second.restore()).toBe(false);
    expect(text()).toBe("[gateway]\nport = 9\n");
  });

  test("works on a file that does not load, as long as it is TOML", async () => {
    const { editor, text } = desk("[gateway]\nprot = 1\n");
    expect((await editor.state()).problems).toMatchObject([{ line: 2, key: "gateway.prot" }]);
    await save(editor, edits([["gateway", "prot"], undefined], [["gateway", "port"], 1]));
    expect(text()).toBe("[gateway]\nport = 1\n");
  });
});

describe("a secret", () => {
  const MODEL = `[model]\nprovider = "openai"\nname = "m"\napi_key = "${SECRET}"\n# api_key = "sk-old-in-a-comment"\n`;

  test("is encrypted when it is saved, and read back by nothing: not state, diff, history, undo or the files", async () => {
    const { editor, home, text } = desk(MODEL);
    const other = "sk-new-fedcba9876543210";
    const change = edits([["model", "api_key"], other]);
    const preview = await editor.preview(change);
    expect(preview.diff).toContainEqual({ kind: "added", line: 4, text: 'api_key = "•••••••• (new)"' });
    const saved = await save(editor, change);
    await save(editor, edits([["gateway", "port"], 1]));
    const told = JSON.stringify([
      preview,
      await editor.state(),
      editor.history(),
      await editor.changeOf(saved.version!),
      await editor.preview({ undo: saved.version! }),
      formSchema(FEATURES, CATALOGUE),
    ]);
    for (const secret of [SECRET, other, "sk-old-in-a-comment", "enc2:"]) expect(told).not.toContain(secret);
    expect(told).toContain('"model.api_key"');
    const folder = join(home.root, "versions");
    const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(kept.join("") + text()).not.toMatch(new RegExp(`${SECRET}|${other}`));
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(statSync(join(folder, "1.json")).mode & 0o077).toBe(0);
    await save(editor, { undo: saved.version! });
    expect((await editor.tried(edits([["gateway", "port"], 2]))).core.model.api_key).toBe(SECRET);
  });

  test.each([
    ["blank", "  "],
    ["a number", 5],
    ["as it is stored", "enc2:AAAA"],
    ["as it is shown", "••••••••"],
  ])("that is %s is refused", async (_what, value) => {
    const { editor } = desk(MODEL);
    await expect(editor.preview(edits([["model", "api_key"], value]))).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  test.each<[string, [(string | number)[], unknown][]]>([
    ["of another address", [[["model", "base_url"], "http://evil.example/v1"]]],
    ["of another provider", [[["model", "provider"], "anthropic"]]],
    ["when its address is removed", [[["model", "base_url"], undefined]]],
  ])("does not go along to the server %s", async (_what, list) => {
    const toml = MODEL.replace("\n# api", '\nbase_url = "https://api.example/v1"\n# api');
    const { editor } = desk(toml);
    const refused = await editor.preview(edits(...list));
    expect(refused.problems).toMatchObject([{ key: "model.api_key", line: expect.any(Number) }]);
    await expect(editor.tried(edits(...list))).rejects.toBeInstanceOf(ConfigError);
    const typed = await editor.preview(edits(...list, [["model", "api_key"], "sk-of-the-other"]));
    expect(typed.problems.filter(({ key }) => key === "model.api_key")).toEqual([]);
  });

  test("of the environment does not go along either", async () => {
    const toml = '[model]\nprovider = "openai"\nname = "m"\n';
    const { editor } = desk(toml, { SVC__MODEL__API_KEY: SECRET });
    expect((await editor.state()).environment).toEqual({ "model.api_key": "SVC__MODEL__API_KEY" });
    const { problems } = await editor.preview(edits([["model", "base_url"], "http://evil.example/v1"]));
    expect(problems).toMatchObject([{ env: "SVC__MODEL__API_KEY" }]);
  });

  test("of a version whose key is gone is taken as it is now", async () => {
    const { editor, home, text } = desk(MODEL);
    const { version } = await save(editor, edits([["model", "name"], "n"]));
    const path = join(home.root, "versions", `${version}.json`);
    const kept = JSON.parse(readFileSync(path, "utf8")) as { before: string };
    kept.before = kept.before.replace(/enc2:[^"]*/, "enc2:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    writeFileSync(path, JSON.stringify(kept));
    await setConfigSecret({ home, features: FEATURES, env: {}, key: "model.api_key", value: "sk-after-rotation" });
    await save(editor, { undo: version! });
    expect(text()).toContain('name = "m"');
    expect((await editor.tried(edits([["gateway", "port"], 2]))).core.model.api_key).toBe("sk-after-rotation");
  });
});

test("null, and what is nested too deeply, is refused", async () => {
  const { editor } = desk("");
  let deep: unknown = 1;
  for (let depth = 0; depth < 30; depth += 1) deep = [deep];
  for (const value of [null, [null], { a: null }, deep]) {
    await expect(editor.preview(edits([["workspace", "path"], value]))).rejects.toMatchObject({ code: "BAD_REQUEST" });
  }
});

test("versions of another file, damaged ones and more than fifty are left out", async () => {
  const { editor, home } = desk("[gateway]\nport = 1\n");
  mkdirSync(join(home.root, "versions"));
  writeFileSync(join(home.root, "versions", "7.json"), '{"file":"/other","before":"","keys":[]}');
  writeFileSync(join(home.root, "versions", "8.json"), '{"fi');
  expect(editor.history()).toEqual([]);
  await expect(editor.preview({ undo: 7 })).rejects.toMatchObject({ code: "VERSION_UNKNOWN" });
  for (let port = 2; port < 54; port += 1) await save(editor, edits([["gateway", "port"], port]));
  expect(editor.history()).toHaveLength(50);
});

const PIECES = [
  "# of the fixture",
  "[gateway]\nport = 1 # one\nallowed_hosts = [ 'a', # first\n  'b' ]",
  "gateway.port = 0x10 # dotted",
  "[model]\nprovider = 'builtin'\nprice = { input_per_million = 1, output_per_million = 2.5 }",
  '[agents.helper]\ninstructions = """\nBe brief.\n"""',
  "agents = { helper.tools = [ 'shell' ] }",
  "[security.policy]\nautonomy = 'full'\nalways = [\n  { agent = 'default', tool = 'a' }, # why\n]",
  "[[shapes.boards]]\nboard = 'x'\n[[shapes.boards]]\nboard = 'y'\ntoken = 'a-token-of-y'",
  "[shapes]\nratio = 0.25\naccounts = { a = { password = 'a-password' } }",
  '[log]\nlevel = "info"',
];
const EDITS: readonly ConfigEdit[] = [
  { path: ["gateway", "port"], value: 8080 },
  { path: ["gateway", "port"], value: "no" },
  { path: ["gateway", "allowed_hosts"], value: ["c"] },
  { path: ["gateway", "allowed_hosts", 0], remove: true },
  { path: ["gateway"], remove: true },
  { path: ["model", "price", "input_per_million"], value: 0.5 },
  { path: ["model", "price"], remove: true },
  { path: ["agents", "helper", "instructions"], value: 'line\nbreak "quoted" <script>' },
  { path: ["agents", "second", "model", "name"], value: "m" },
  { path: ["agents", "helper"], remove: true },
  { path: ["security", "policy", "always", 0], remove: true },
  { path: ["security", "policy", "always", 1], value: { agent: "default", tool: "b" } },
  { path: ["shapes", "boards", 1, "token"], value: "another-token" },
  { path: ["shapes", "boards", 2], value: { board: "z", token: "token-of-z" } },
  { path: ["shapes", "boards", 0], remove: true },
  { path: ["shapes", "accounts", "b", "password"], value: "password-of-b" },
  { path: ["log", "level"], value: "debug" },
  { path: ["nonsense", "key"], value: true },
];

test(
  "random changes of random files: what is saved loads, comments stay, no secret is plain; or the line is told",
  { timeout: 300_000 },
  async () => {
    const { editor, home, text } = desk("");
    let saved = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...PIECES), { maxLength: 6 }),
        fc.boolean(),
        fc.array(fc.constantFrom(...EDITS), { minLength: 1, maxLength: 3 }),
        async (pieces, isCrlf, list) => {
          const before = pieces.join("\n").replaceAll("\n", isCrlf ? "\r\n" : "\n");
          writeFileSync(home.config, before, { mode: 0o600 });
          const { revision, unwritable } = await editor.state();
          expect(unwritable).toBeUndefined();
          const result = await editor.save({ edits: list }, revision, "p").catch((error: unknown) => error as Error);
          const left = text();
          const isRefused = result instanceof Error;
          // Undone byte for byte, or never written.
          expect(isRefused ? left : before).toBe(before);
          const problems = result instanceof ConfigError ? result.problems : [];
          expect(problems.filter(({ line }) => line === undefined)).toEqual([]);
          if (isRefused) return;
          saved += 1;
          // A table goes with the comments between its keys.
          const dead = list.reduce((sum, edit) => sum + ("remove" in edit ? (edit.path.length === 1 ? 4 : 2) : 0), 0);
          const comments = (of: string): string[] => of.match(/# \w.*$/gm) ?? [];
          expect(comments(left).length).toBeGreaterThanOrEqual(comments(before).length - dead);
          expect(left).not.toMatch(/another-token|token-of-z|password-of-b|a-token-of-y|'a-password'/);
          expect((await editor.state()).problems).toEqual([]);
        },
      ),
      { numRuns: cases(1500) },
    );
    expect(saved).toBeGreaterThan(cases(1500) / 8);
  },
);
