// The SDK's real crypto on the store, over `kill -9`: the device is the same one after it, and every session that was reported
// stored is there. On a disk that refuses, the SDK is told, and finds later what it had before.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test, type TestContext } from "vitest";
import { cases } from "@svc/cases";
import { ERRNO, type FaultyWrites, faultyWrites, NO_FAULTY_WRITES } from "@svc/testkit/real/faulty-writes";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";

const CHILD = fileURLToPath(new URL("machine-child.ts", import.meta.url));
const root = temporaryHome();
let faults: FaultyWrites | undefined;

beforeAll(() => {
  faults = faultyWrites();
});
afterAll(() => {
  faults?.[Symbol.dispose]();
  root.remove();
});

interface Line {
  readonly identity?: readonly string[];
  readonly found?: readonly string[];
  readonly stored?: string;
  readonly failed?: string;
  readonly refused?: string;
  readonly left?: number;
}

interface Run {
  readonly lines: readonly Line[];
  readonly code: number | null;
  readonly stderr: string;
}

interface RunOptions {
  readonly sessions?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Sees each line as it comes; false kills the process. */
  readonly goesOn?: (lines: readonly Line[]) => boolean;
  /** Called before each session, which waits for it. */
  readonly before?: (lines: readonly Line[]) => void;
}

function run(path: string, { sessions = 0, env = {}, goesOn = () => true, before }: RunOptions = {}): Promise<Run> {
  const child = spawn(process.execPath, [CHILD, path, String(sessions), ...(before ? ["asks"] : [])], {
    env: { ...process.env, ...env },
  });
  const lines: Line[] = [];
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  createInterface(child.stdout).on("line", (line) => {
    lines.push(JSON.parse(line) as Line);
    if (!goesOn(lines)) child.kill("SIGKILL");
    if (!before || !("found" in lines.at(-1)! || "stored" in lines.at(-1)! || "failed" in lines.at(-1)!)) return;
    before(lines);
    child.stdin.write("go\n");
  });
  child.stdin.on("error", () => {}); // it has ended
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ lines, code, stderr }));
  });
}

const storedIn = (lines: readonly Line[]): string[] => lines.flatMap(({ stored }) => stored ?? []);
/** Whether each session was stored. */
const outcomes = (lines: readonly Line[]): boolean[] =>
  lines.flatMap((line) => (line.stored !== undefined ? true : line.failed !== undefined ? false : []));
const identityIn = (lines: readonly Line[]): readonly string[] | undefined =>
  lines.find(({ identity }) => identity)?.identity;

function newFile(): string {
  files += 1;
  const folder = join(root.path, `${files}`);
  mkdirSync(folder);
  return join(folder, "crypto.db");
}
let files = 0;

function demandFaults(context: TestContext): FaultyWrites {
  return faults ?? requireReal(context, NO_FAULTY_WRITES);
}

test("the device and its sessions are there after each of many kills", async () => {
  const path = newFile();
  const reported = new Set<string>();
  let identity: readonly string[] | undefined;
  for (let round = 0; round < cases(40); round += 1) {
    // Killed with a commit under way, or just before or behind it: the line comes while the process goes on.
    const atLine = Math.floor(Math.random() * 12);
    const { lines, code, stderr } = await run(path, { sessions: 1000, goesOn: (seen) => seen.length <= atLine });
    expect([stderr, code]).toEqual(["", null]);
    const known = identityIn(lines);
    identity ??= known;
    expect(known ?? identity).toEqual(identity);
    // Killed before it could tell: the next one does.
    const found = lines.find((line) => line.found)?.found ?? [...reported];
    expect(found).toEqual(expect.arrayContaining([...reported]));
    for (const id of storedIn(lines)) reported.add(id);
  }
  const last = await run(path);
  expect(last.code).toBe(0);
  expect(identityIn(last.lines)).toEqual(identity);
  expect(last.lines.find((line) => line.found)?.found).toEqual(expect.arrayContaining([...reported]));
  expect(reported.size).toBeGreaterThan(10);
});

test("killed before a write to the file, it goes on from what it had reported", async (context) => {
  const { env, calls } = demandFaults(context);
  const whole = newFile();
  expect((await run(whole, { sessions: 3, env: env(whole) })).code).toBe(0);
  const count = calls(whole);
  expect(count).toBeGreaterThan(40);
  // Others in each run, over the whole of it.
  const tries = cases(60);
  const places = Array.from({ length: tries }, (_, n) => 1 + Math.floor(((n + Math.random()) * count) / tries));
  let kills = 0;
  const work = async (): Promise<void> => {
    for (let at = places.shift(); at !== undefined; at = places.shift()) {
      const path = newFile();
      const { lines, code } = await run(path, { sessions: 3, env: env(path, at) });
      if (code === null) kills += 1;
      const after = await run(path);
      expect([at, after.stderr, after.code]).toEqual([at, "", 0]);
      const identity = identityIn(after.lines);
      expect([at, identityIn(lines) ?? identity]).toEqual([at, identity]);
      const found = after.lines.find((line) => line.found)?.found;
      expect([at, found]).toEqual([at, expect.arrayContaining(storedIn(lines))]);
    }
  };
  await Promise.all([work(), work(), work()]);
  expect(kills).toBeGreaterThan(tries / 2);
});

describe("a disk that refuses", () => {
  beforeEach((context) => void demandFaults(context));

  test.each([
    ["full", ERRNO.ENOSPC, "STORE_FULL"],
    ["read-only", ERRNO.EROFS, "STORE_FAILED"],
    ["broken", ERRNO.EIO, "STORE_FAILED"],
  ])("%s: the SDK is told, and goes on when it takes writes again", async (_name, errno, code) => {
    using disk = faultyWrites()!;
    const path = newFile();
    const seen = await run(path, {
      sessions: 9,
      env: disk.env(path),
      before: (lines) => disk.fail([3, 4].includes(outcomes(lines).length) ? errno : 0),
    });
    expect([seen.stderr, seen.code]).toEqual(["", 0]);
    expect(seen.lines.find(({ refused }) => refused)?.refused).toBe(code);
    const stored = storedIn(seen.lines);
    expect(outcomes(seen.lines)).toEqual([true, true, true, false, false, true, true, true, true]);
    // Memory has what the disk has, and both what was reported.
    const after = await run(path);
    expect(identityIn(after.lines)).toEqual(identityIn(seen.lines));
    expect(after.lines.find((line) => line.found)?.found?.toSorted()).toEqual(stored.toSorted());
    expect(seen.lines.at(-1)?.left).toBe(stored.length);
  });
});
