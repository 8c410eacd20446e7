// A backup that nobody has restored is a hope: the real binary backs up under load, and what it wrote is put back and used.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { runBinary, type RunResult } from "@svc/testkit/binary/run-binary";
import { binaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { journalFile, keptFolder, swapSteps, take } from "../src/backup/swap.ts";
import { homeWith, post, startPaired } from "./daemon.ts";

let files: ReturnType<typeof temporaryHome>;
beforeEach(() => (files = temporaryHome()));
afterEach(() => files.remove());

const svc = (home: string, ...words: string[]): Promise<RunResult> => runBinary(words, { home });

/** Its standard output as JSON; fails with what was said when the command failed. */
async function told(home: string, ...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await svc(home, ...words, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** An empty home of its own. */
function newHome(name: string): string {
  const path = join(files.path, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** Turns by the name of their session. */
async function turnsAt(url: string, token: string): Promise<Map<string, number>> {
  const response = await fetch(`${url}/api/sessions?limit=200`, { headers: { Authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  const { sessions } = (await response.json()) as { sessions: { session_id: string; turns: number }[] };
  return new Map(sessions.map(({ session_id: id, turns }) => [id, turns]));
}

/** Looks again until it holds; the test's own time limit is the only clock. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

test("while 50 clients send turns: each that was answered before is in it, in a new home and in the live one", async () => {
  using home = homeWith("[gateway]\nwebhook_rate_limit_per_minute = 0\n");
  const { daemon, token } = await startPaired({ home: home.path });
  await using _ = daemon;
  const answered = new Map<string, number>();
  const enough = new AbortController();
  const clients = Array.from({ length: 50 }, async (_, n) => {
    const session = `client-${n}`;
    for (let turn = 1; !enough.signal.aborted; turn += 1) {
      const { status } = await post(daemon, token, `turn ${turn}`, { "X-Session-Id": session });
      expect(status).toBe(200);
      answered.set(session, turn);
    }
  });
  await until(() => answered.size === 50);
  const before = new Map(answered);
  const file = join(files.path, "b.tar.gz");
  expect(await told(home.path, "backup", file)).toMatchObject({ file, files: 2, with_key: false });
  enough.abort();
  await Promise.all(clients);
  const all = await turnsAt(daemon.url, token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(files.path)).toEqual(["b.tar.gz"]);

  const other = newHome("new");
  expect(await told(other, "restore", file, "--yes")).toMatchObject({ restored: true, kept: null, url: null });
  await using again = await startBinary({ home: other });
  const restored = await turnsAt(again.url, token);
  for (const [session, turns] of before) expect(restored.get(session)).toBeGreaterThanOrEqual(turns);

  const { url, kept } = await told(home.path, "restore", file, "--yes");
  expect(await turnsAt(String(url), token)).toEqual(restored);
  const db = new DatabaseSync(join(String(kept), "state/svc.db"));
  const { turns } = db.prepare("SELECT sum(turns) AS turns FROM sessions").get() as { turns: number };
  db.close();
  expect(turns).toBe([...all.values()].reduce((sum, one) => sum + one, 0));
  const answer = await fetch(`${String(url)}/webhook`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ message: "hello" }),
  });
  expect(answer.status).toBe(200);
  expect(readdirSync(home.path).filter((name) => name.includes("restore"))).toHaveLength(1);
});

describe("encrypted secrets", () => {
  const SECRET = "a-secret-of-the-webhook";
  const config = `[channels_config.webhook]\nsecret = "${SECRET}"\n`;

  test("come back with the key, and say which they are without it", async () => {
    using home = homeWith(config);
    await (await startBinary({ home: home.path })).stop();
    expect(readFileSync(join(home.path, "config.toml"), "utf8")).not.toContain(SECRET);
    const [withKey, without] = [join(files.path, "with.tar.gz"), join(files.path, "without.tar.gz")];
    expect((await svc(home.path, "backup", withKey)).stdout).toContain("anyone with this file can read them");
    expect((await svc(home.path, "backup", without, "--without-key")).stdout).toContain("does not hold the key");
    const key = readFileSync(join(home.path, ".secret_key"), "utf8").trim();
    expect(gunzipSync(readFileSync(withKey)).includes(key)).toBe(true);
    expect(gunzipSync(readFileSync(without)).includes(key)).toBe(false);

    const [whole, keyless] = [newHome("whole"), newHome("keyless")];
    expect(await told(whole, "restore", withKey, "--yes")).toMatchObject({ warning: null });
    expect((await svc(whole, "config", "check")).code).toBe(0);
    expect(statSync(join(whole, ".secret_key")).mode & 0o777).toBe(0o600);
    expect((await svc(keyless, "restore", without, "--yes")).stdout).toContain("can't be used yet");
    expect((await svc(keyless, "config", "check")).stderr).toContain("channels_config.webhook.secret");
    // The home it was made of still has its key.
    expect(await told(home.path, "restore", without, "--yes")).toMatchObject({ warning: null });
    expect((await svc(home.path, "config", "check")).code).toBe(0);
  });
});

describe("a running daemon goes on undisturbed", () => {
  test("when the backup is damaged, can't be used by this build, or nobody said yes", async () => {
    using home = homeWith("");
    const good = join(files.path, "good.tar.gz");
    expect((await svc(home.path, "backup", good)).code).toBe(0);
    const damaged = join(files.path, "damaged.tar.gz");
    writeFileSync(damaged, readFileSync(good).subarray(0, -20));
    writeFileSync(join(home.path, "config.toml"), "[no_such_section]\nx = 1\n");
    const unusable = join(files.path, "unusable.tar.gz");
    expect((await svc(home.path, "backup", unusable)).code).toBe(0);
    // An address of another machine (RFC 5737): the daemon would go down for it and never come up again.
    writeFileSync(join(home.path, "config.toml"), '[gateway]\nhost = "203.0.113.5"\nallow_public_bind = true\n');
    const elsewhere = join(files.path, "elsewhere.tar.gz");
    expect((await svc(home.path, "backup", elsewhere)).code).toBe(0);
    writeFileSync(join(home.path, "config.toml"), "");
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const instance = async (): Promise<unknown> => (await told(home.path, "status"))["instance"];
    const before = { instance: await instance(), files: readdirSync(home.path) };
    const refusals: [string[], number, string][] = [
      [["restore", damaged, "--yes"], 65, "BACKUP_INVALID"],
      [["restore", unusable, "--yes"], 78, "CONFIG_INVALID"],
      [["restore", elsewhere, "--yes"], 78, "can't be listened on"],
      [["restore", good], 64, "USAGE"],
      [["restore", join(files.path, "none"), "--yes"], 65, "BACKUP_INVALID"],
      [["backup", good], 73, "BACKUP_FAILED"],
      [["backup", join(files.path, "no", "folder")], 73, "BACKUP_FAILED"],
    ];
    for (const [words, code, said] of refusals) {
      const result = await svc(home.path, ...words);
      expect([result.code, result.stderr]).toEqual([code, expect.stringContaining(said)]);
    }
    expect({ instance: await instance(), files: readdirSync(home.path) }).toEqual(before);
    expect((await post(daemon, token, "hello")).status).toBe(200);
  });
});

describe("killed", () => {
  test("in a backup: its name stays free, or holds a whole one; Ctrl-C leaves nothing else either", async () => {
    using home = homeWith("");
    await (await startBinary({ home: home.path })).stop();
    for (const [n, signal] of (["SIGKILL", "SIGINT", "SIGKILL", "SIGINT"] as const).entries()) {
      const folder = newHome(`${n}`);
      const child = spawnBinary(binaryPath(), ["backup", join(folder, "b.tar.gz")], home.path);
      const ended = new Promise((resolve) => child.once("close", resolve));
      await until(() => readdirSync(folder).length > 0 || child.exitCode !== null);
      child.kill(signal);
      await ended;
      const made = readdirSync(folder).filter((name) => !name.startsWith(".svc-backup-"));
      const left = readdirSync(folder).length - made.length;
      for (const name of made) await told(newHome(`of-${n}`), "restore", join(folder, name), "--yes");
      // Nobody can clean up after kill -9.
      expect([made.length <= 1, signal === "SIGKILL" ? 0 : left]).toEqual([true, 0]);
    }
  });

  test.each([1, 3, 5])("in a restore after %i renames: the next start finishes it", async (renames) => {
    using home = homeWith("");
    const { daemon, token } = await startPaired({ home: home.path });
    await post(daemon, token, "hello", { "X-Session-Id": "kept" });
    await daemon.kill9();
    const other = newHome("other");
    await (await startBinary({ home: other })).stop();
    // What `svc restore` has in the home when it begins to change files.
    const folder = "restore-20260101T000000Z";
    mkdirSync(join(other, folder, "state"), { recursive: true });
    const db = new DatabaseSync(join(home.path, "state/svc.db"));
    db.exec(`VACUUM INTO '${join(other, folder, "state/svc.db")}'`);
    db.close();
    writeFileSync(join(other, folder, "config.toml"), "# restored\n");
    writeFileSync(join(other, "state/svc.db-wal"), "of the old database");
    writeFileSync(journalFile(other), JSON.stringify({ format: 1, folder }));
    const steps = swapSteps(other, folder);
    for (let n = 0; n < renames; n += 1) take(steps.next().value!);
    await using again = await startBinary({ home: other });
    expect(await turnsAt(again.url, token)).toEqual(new Map([["kept", 1]]));
    expect(readFileSync(join(other, "config.toml"), "utf8")).toContain("# restored");
    expect(readdirSync(join(other, keptFolder(folder)), { recursive: true }).toSorted()).toEqual([
      "config.toml",
      "state",
      "state/svc.db",
      "state/svc.db-wal",
    ]);
    expect([existsSync(journalFile(other)), existsSync(join(other, folder))]).toEqual([false, false]);
  });
});
