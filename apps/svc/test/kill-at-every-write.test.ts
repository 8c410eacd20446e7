// kill -9 at every call that changes a file. Killed at random, a command falls into the same few long waits again and again;
// the instant in which a key has two names is a microsecond.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { homeOf, openKeyRing } from "@svc/config";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type FaultyWrites, faultyWrites, NO_FAULTY_WRITES } from "@svc/testkit/real/faulty-writes";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";

const root = temporaryHome();
const base = join(root.path, "base");
const SECRETS = { "model.api_key": "model-key-of-the-test", "channels_config.webhook.secret": "hook-of-the-test" };
let faults: FaultyWrites | undefined;
let places = 0;

beforeAll(async () => {
  faults = faultyWrites();
  if (!faults) return;
  mkdirSync(base, { mode: 0o700 });
  await told(base, ["init", "--yes", "--channel", "none"]);
  for (const [key, value] of Object.entries(SECRETS)) await told(base, ["secrets", "set", key], value);
  const { TOML, MD } = procedureFiles("old");
  await told(base, ["sop", "new", "a", "--toml", TOML!, "--markdown", MD!]);
});
afterAll(() => {
  faults?.[Symbol.dispose]();
  root.remove();
});
beforeEach((context) => {
  if (!faults) requireReal(context, NO_FAULTY_WRITES);
});

async function told(home: string, words: readonly string[], input = ""): Promise<void> {
  const { code, stderr } = await runBinary(words, { home, input });
  expect([words, code, stderr]).toEqual([words, 0, ""]);
}

interface Killed {
  readonly home: string;
  /** An empty folder of its own. */
  readonly outside: string;
}

interface Command {
  readonly words: (killed: Killed) => readonly string[];
  readonly input?: string;
  /** Every how manyth write is tried. */
  readonly stride?: number;
}

/** Runs a command in copies of the home, killed before each of its writes in turn. Resolves with how many times. */
async function killedEverywhere(
  { words, input = "", stride = 1 }: Command,
  after: (killed: Killed) => Promise<void>,
): Promise<number> {
  const run = async (at: number): Promise<{ killed: Killed; code: number | null; calls: number }> => {
    const place = join(root.path, `${++places}`);
    const killed = { home: join(place, "home"), outside: join(place, "outside") };
    mkdirSync(killed.outside, { recursive: true, mode: 0o700 });
    cpSync(base, killed.home, { recursive: true });
    const env = faults!.env(place, at);
    const { code } = await runBinary(words(killed), { home: killed.home, input, env });
    return { killed, code, calls: faults!.calls(place) };
  };
  const { calls, code } = await run(0);
  expect(code).toBe(0);
  const waiting = Array.from({ length: Math.floor(calls / stride) }, (_, at) => (at + 1) * stride);
  let kills = 0;
  const work = async (): Promise<void> => {
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
      const { killed, code } = await run(at);
      // Threads share the work, and not always alike: the last of many calls may not come.
      if (code === 0) continue;
      expect([at, code]).toEqual([at, null]);
      kills += 1;
      await after(killed);
    }
  };
  await Promise.all([work(), work(), work()]);
  return kills;
}

const NAMES = [".secret_key", "config.schema.json", "config.toml", "run", "versions", "workspace"];

function expectSealedAndReadable(home: string): void {
  const { open } = openKeyRing(homeOf({ SVC_HOME: home }));
  const sealed = [...readFileSync(join(home, "config.toml"), "utf8").matchAll(/"(enc2:[^"]*)"/g)];
  expect(sealed.map(([, text]) => open(text!)).toSorted()).toEqual(Object.values(SECRETS).toSorted());
}

function expectNothingElse(home: string): void {
  expect(readdirSync(home).toSorted()).toEqual(NAMES);
  expect(readdirSync(join(home, "run")).filter((name) => !/^(config\.)?lock$/.test(name))).toEqual([]);
}

test.each<[string, Command]>([
  ["rotate", { words: () => ["secrets", "rotate"] }],
  ["set", { words: () => ["secrets", "set", "model.api_key"], input: SECRETS["model.api_key"] }],
])("svc secrets %s: every secret can be read, and the next one leaves nothing else behind", async (_, command) => {
  const kills = await killedEverywhere(command, async (killed) => {
    const { home } = killed;
    expectSealedAndReadable(home);
    await told(home, command.words(killed), command.input);
    expectSealedAndReadable(home);
    expectNothingElse(home);
  });
  expect(kills).toBeGreaterThan(5);
});

test("svc backup: its name is free or holds a whole one, and the next one removes the key that lies beside it", async () => {
  const words = ({ outside }: Killed, name = "killed"): readonly string[] => ["backup", join(outside, name)];
  const kills = await killedEverywhere({ words, stride: 3 }, async (killed) => {
    await told(killed.home, words(killed, "next"));
    const made = readdirSync(killed.outside).toSorted();
    expect(made.filter((name) => name !== "killed")).toEqual(["next"]);
    // Both hold the same files; only the time in them differs.
    const sizes = made.map((name) => statSync(join(killed.outside, name)).size);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(16);
    expectNothingElse(killed.home);
  });
  expect(kills).toBeGreaterThan(5);
});

test.each<[string, readonly string[], string]>([
  ["edit", ["sop", "edit", "a", "--toml", "TOML", "--markdown", "MD"], "a: new new"],
  ["rename", ["sop", "rename", "a", "b"], "b: old old"],
  ["delete", ["sop", "delete", "a"], ""],
])("svc sop %s: both files of a procedure are as before or as after, never one of each", async (_, words, after) => {
  const files = procedureFiles("new");
  const given = words.map((word) => files[word] ?? word);
  const outcomes = new Set<string>();
  const kills = await killedEverywhere({ words: () => given, stride: 3 }, async ({ home }) => {
    // Any next command that reads procedures finishes what was begun.
    await told(home, ["sop", "list"]);
    outcomes.add(proceduresOf(home));
    expect(readdirSync(join(home, "workspace", "sops"))).not.toContain(".pending.json");
  });
  expect(kills).toBeGreaterThan(3);
  expect(outcomes).toEqual(new Set(["a: old old", after]));
});

/** Written beside the homes; both say `text`. */
function procedureFiles(text: string): Record<string, string> {
  const [toml, markdown] = [join(root.path, `${text}.toml`), join(root.path, `${text}.md`)];
  writeFileSync(toml, `[sop]\ndescription = "${text}"\n\n[[triggers]]\ntype = "manual"\n`);
  writeFileSync(markdown, `## Steps\n\n1. **${text}**\n`);
  return { TOML: toml, MD: markdown };
}

function proceduresOf(home: string): string {
  const folder = join(home, "workspace", "sops");
  const said = (name: string, file: string, pattern: RegExp): string | undefined =>
    pattern.exec(readFileSync(join(folder, name, file), "utf8"))?.[1];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, "SOP.toml")))
    .map((name) => `${name}: ${said(name, "SOP.toml", /= "(\w+)"/)} ${said(name, "SOP.md", /\*\*(\w+)/)}`)
    .join(", ");
}
