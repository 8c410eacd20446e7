// An update replaces the program that runs with one from the network. Whatever is wrong with the release, the network or the disk, and
// whenever the process is killed, the old binary must stay in place, whole.
import { createHash } from "node:crypto";
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeKeyPair } from "@svc/release/signing";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { faultyWrites, NO_FAULTY_WRITES } from "@svc/testkit/real/faulty-writes";
import { mountSmallDisk, NO_SMALL_DISK } from "@svc/testkit/real/small-disk";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { post, startPaired } from "./daemon.ts";
import {
  installBinary,
  nextBinary,
  publicKey,
  releaseOf,
  type ReleaseServer,
  scriptBinary,
  serveReleases,
  target,
  writeScript,
} from "./update-fixture.ts";

const root = temporaryHome();
let server: ReleaseServer;
let home = "";
let file = "";
let before = "";
let places = 0;

beforeAll(async () => {
  server = await serveReleases();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  root.remove();
});
beforeEach(() => {
  const place = join(root.path, `${++places}`);
  home = join(place, "home");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  file = installBinary(join(place, "bin"));
  before = hash(file);
  server.cutAfter = undefined;
});

/** A small file by its bytes. The installed binary is another name of the built one: nothing may ever write into that. */
const hash = (path: string): string => {
  const { size, mtimeMs } = statSync(path);
  return size > 1_000_000
    ? `${size} ${Math.floor(mtimeMs / 1000)}`
    : createHash("sha256").update(readFileSync(path)).digest("hex");
};
const run = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runBinary(words, { home, binary: file, env: { SVC_UPDATE_URL: server.url, SVC_UPDATE_KEY: publicKey, ...env } });
const failure = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { code, stderr } = await run([...words, "--json"], env);
  return { code, error: (JSON.parse(stderr) as { code: string }).code };
};

/** The folder holds the old binary and no download. */
function expectUntouched(): void {
  expect(hash(file)).toBe(before);
  const left = readdirSync(dirname(file)).flatMap((name) =>
    name === ".svc-update" ? readdirSync(join(dirname(file), name)).map((inner) => `${name}/${inner}`) : [name],
  );
  expect(left.filter((name) => name !== "svc" && !name.startsWith(".svc-update/lock"))).toEqual([]);
}

const NEXT = { version: "99.0.0", commit: "abc1234" };

describe("a newer release", () => {
  test("is found, installed, answers a turn, is rolled back, and rolled forward again", async () => {
    const next = nextBinary();
    server.files = releaseOf(next.bytes, next);
    const check = await run(["update", "--check", "--json"]);
    const report = { current: next.current, newest: next.version, profile: "minimal", target, update: true };
    expect([check.code, JSON.parse(check.stdout)]).toEqual([0, report]);
    expectUntouched();

    expect(await run(["update"])).toMatchObject({ code: 0, stdout: expect.stringContaining(`to ${next.version}`) });
    expect((await run(["--version"])).stdout).toBe(`svc ${next.version} (${next.commit})\n`);
    expect(statSync(file).mode & 0o777).toBe(0o755);
    expect(readdirSync(join(dirname(file), ".svc-update")).toSorted()).toEqual(["lock", "previous"]);
    const { daemon, token } = await startPaired({ home, binary: file });
    try {
      expect(await post(daemon, token, "hello")).toMatchObject({ status: 200, body: { model: "builtin" } });
    } finally {
      await daemon.close();
    }
    expect((await run(["update"])).stdout).toContain("is the newest release");

    expect(await run(["rollback"])).toMatchObject({ code: 0, stdout: expect.stringContaining(`to ${next.current}`) });
    expect(hash(file)).toBe(before);
    expect(await run(["rollback"])).toMatchObject({ code: 0 });
    expect((await run(["--version"])).stdout).toContain(next.version);
  });

  test.each([
    ["older", "0.0.1", "is newer than the release"],
    ["the same", undefined, "is the newest release"],
  ])("is none when the version is %s", async (_name, version, text) => {
    const { version: own } = JSON.parse((await run(["--version", "--json"])).stdout) as { version: string };
    server.files = releaseOf(scriptBinary(NEXT), { ...NEXT, version: version ?? own });
    expect(await run(["update"])).toMatchObject({ code: 0, stdout: expect.stringContaining(text) });
    expectUntouched();
  });
});

describe("a release is refused and nothing changes when", () => {
  const good = () => releaseOf(scriptBinary(NEXT), NEXT);
  const changed = (name: string, change: (bytes: Buffer) => Buffer | undefined) => {
    const files = good();
    const bytes = change(files.get(name)!);
    if (bytes) files.set(name, bytes);
    else files.delete(name);
    return files;
  };
  const build = `svc-99.0.0-minimal-${target}.gz`;
  test.each<[string, string, number, () => Map<string, Buffer>]>([
    ["its manifest was changed", "UPDATE_REFUSED", 65, () => changed("release.json", (b) => Buffer.from(`${b} `))],
    ["its signature is missing", "UPDATE_UNREACHABLE", 69, () => changed("release.json.minisig", () => undefined)],
    [
      "its signature is no signature",
      "UPDATE_REFUSED",
      65,
      () => changed("release.json.minisig", () => Buffer.from("x")),
    ],
    ["its signature is endless", "UPDATE_REFUSED", 65, () => changed("release.json.minisig", () => Buffer.alloc(5000))],
    ["its manifest is endless", "UPDATE_REFUSED", 65, () => changed("release.json", () => Buffer.alloc(2_000_000))],
    ["its build is missing", "UPDATE_UNREACHABLE", 69, () => changed(build, () => undefined)],
    ["its build is cut off", "UPDATE_UNREACHABLE", 69, () => changed(build, (b) => b.subarray(0, 40))],
    ["its build is another one", "UPDATE_REFUSED", 65, () => changed(build, (b) => Buffer.from(b).fill(1, 12, 13))],
    ["its build is longer", "UPDATE_REFUSED", 65, () => changed(build, (b) => Buffer.concat([b, b]))],
    [
      "it is for another machine only",
      "UPDATE_UNAVAILABLE",
      69,
      () => releaseOf(scriptBinary(NEXT), { ...NEXT, target: "plan9-mips" }),
    ],
    [
      "it has another profile only",
      "UPDATE_UNAVAILABLE",
      69,
      () => releaseOf(scriptBinary(NEXT), { ...NEXT, profile: "full" }),
    ],
    ["its binary does not start here", "UPDATE_REFUSED", 65, () => releaseOf(Buffer.from("\x7fELF, or not"), NEXT)],
    [
      "its binary is another version",
      "UPDATE_REFUSED",
      65,
      () => releaseOf(scriptBinary({ ...NEXT, version: "98.0.0" }), NEXT),
    ],
  ])("%s", async (_name, error, code, files) => {
    server.files = files();
    expect(await failure(["update"])).toEqual({ code, error });
    expectUntouched();
  });

  test("the connection breaks", async () => {
    server.files = good();
    server.cutAfter = 20;
    expect(await failure(["update"])).toEqual({ code: 69, error: "UPDATE_UNREACHABLE" });
    expectUntouched();
  });

  test("another key signed it", async () => {
    server.files = good();
    const stranger = makeKeyPair().publicKey.split("\n")[1]!;
    expect(await failure(["update"], { SVC_UPDATE_KEY: stranger })).toEqual({ code: 65, error: "UPDATE_REFUSED" });
    expectUntouched();
  });

  test("refuses a server that is down, an address without https, and a build without an address", async () => {
    expect(await failure(["update", "--from", "http://127.0.0.1:9"])).toMatchObject({ error: "UPDATE_UNREACHABLE" });
    expect(await failure(["update", "--from", "http://releases.test"])).toMatchObject({ error: "USAGE" });
    expect(await failure(["update"], { SVC_UPDATE_URL: "" })).toMatchObject({ error: "UPDATE_UNAVAILABLE" });
    expectUntouched();
  });

  test("a package manager keeps the binary", async () => {
    server.files = good();
    writeFileSync(join(dirname(file), "svc.managed-by"), "apt-get install svc\n");
    const { stderr } = await run(["update"]);
    expect(stderr).toContain("apt-get install svc");
    expect(await failure(["rollback"])).toEqual({ code: 64, error: "UPDATE_MANAGED" });
    expect(hash(file)).toBe(before);
  });
});

describe("a database that is newer", () => {
  const database = (schema: number): void => {
    mkdirSync(join(home, "state"), { mode: 0o700 });
    const db = new DatabaseSync(join(home, "state/svc.db"));
    db.exec(`PRAGMA user_version = ${schema}`);
    db.close();
  };

  test("than the release keeps the update from happening, already at --check", async () => {
    database(13);
    server.files = releaseOf(scriptBinary({ ...NEXT, schema_version: 12 }), { ...NEXT, schema: 12 });
    expect(await failure(["update", "--check"])).toEqual({ code: 78, error: "STORE_NEWER" });
    expect(await failure(["update"])).toEqual({ code: 78, error: "STORE_NEWER" });
    expectUntouched();
  });

  test("than the previous binary keeps the rollback from happening", async () => {
    expect(await failure(["rollback"])).toEqual({ code: 66, error: "ROLLBACK_UNAVAILABLE" });
    const previous = join(dirname(file), ".svc-update/previous");
    writeScript(previous, scriptBinary({ version: "0.0.1", commit: "abc1234", schema_version: 12 }));
    database(13);
    expect(await failure(["rollback"])).toEqual({ code: 78, error: "STORE_NEWER" });
    writeScript(previous, Buffer.from("nothing that runs"));
    expect(await failure(["rollback"])).toEqual({ code: 66, error: "ROLLBACK_UNAVAILABLE" });
    expect(hash(file)).toBe(before);
  });
});

test("another user's binary is left to that user", async (context) => {
  if (process.geteuid?.() !== 0) context.skip("only root can give a file to another user");
  server.files = releaseOf(scriptBinary(NEXT), NEXT);
  chownSync(dirname(file), 12_345, 12_345);
  expect(await failure(["update"])).toEqual({ code: 73, error: "UPDATE_FAILED" });
  chownSync(dirname(file), 0, 0);
  expectUntouched();
});

test("a full disk ends the update, and the old binary works", async (context) => {
  using disk = mountSmallDisk(160) ?? requireReal(context, NO_SMALL_DISK);
  file = installBinary(join(disk.path, "bin"));
  const next = nextBinary();
  server.files = releaseOf(next.bytes, next);
  expect(await failure(["update"])).toEqual({ code: 74, error: "STORE_FULL" });
  expectUntouched();
  expect((await run(["--version"])).code).toBe(0);
});

test("killed before any of its writes, a whole binary has the name, and the next update succeeds", async (context) => {
  using faults = faultyWrites() ?? requireReal(context, NO_FAULTY_WRITES);
  server.files = releaseOf(scriptBinary(NEXT), NEXT);
  const place = dirname(file);
  const after = createHash("sha256").update(scriptBinary(NEXT)).digest("hex");
  expect(await run(["update"], faults.env(place))).toMatchObject({ code: 0 });
  expect(hash(file)).toBe(after);
  const calls = faults.calls(place);
  const found = new Set<string>();
  for (let at = 1; at <= calls; at += 1) {
    file = installBinary(join(root.path, `killed-${at}`));
    const { code } = await run(["update"], faults.env(dirname(file), at));
    if (code === 0) continue;
    expect([at, code]).toEqual([at, null]);
    const now = hash(file);
    expect([before, after]).toContain(now);
    found.add(now);
    const previous = join(dirname(file), ".svc-update/previous");
    const kept = existsSync(previous) ? hash(previous) : undefined;
    expect(now === after ? [before] : [before, undefined]).toContain(kept);
    // The release's binary is a script that can't update; the old one tries again.
    const { code: again } = now === before ? await run(["update"]) : { code: 0 };
    expect([at, again, hash(file), hash(previous)]).toEqual([at, 0, after, before]);
  }
  expect(found).toEqual(new Set([before, after]));
});

test("killed before any write of a rollback, no binary is lost, and the next rollback finishes it", async (context) => {
  using faults = faultyWrites() ?? requireReal(context, NO_FAULTY_WRITES);
  const next = nextBinary();
  const newer = join(root.path, "newer");
  writeScript(newer, next.bytes);
  const older = installBinary(join(root.path, "older"));
  const numbers = (): number[] => [file, join(dirname(file), ".svc-update/previous")].map((name) => statSync(name).ino);
  const [kept, before] = [older, newer].map((name) => statSync(name).ino);
  const install = (name: string): void => {
    file = join(root.path, name, "svc");
    mkdirSync(join(dirname(file), ".svc-update"), { recursive: true });
    linkSync(newer, file);
    linkSync(older, join(dirname(file), ".svc-update/previous"));
  };
  install("rolled");
  expect(await run(["rollback"], faults.env(dirname(file)))).toMatchObject({ code: 0 });
  expect(numbers()).toEqual([kept, before]);
  const calls = faults.calls(dirname(file));
  let finished = 0;
  for (let at = 1; at <= calls; at += 1) {
    install(`rolled-${at}`);
    const { code } = await run(["rollback"], faults.env(dirname(file), at));
    if (code === 0) continue;
    const [now, previous] = numbers();
    if (now === kept && previous === before) continue;
    expect([at, now === before || previous === kept]).toEqual([at, true]);
    if (now === kept) finished += 1;
    const again = await run(["rollback", "--json"]);
    expect([at, again.code, JSON.parse(again.stdout), numbers()]).toEqual([
      at,
      0,
      expect.objectContaining({ version: next.current, before: next.version }),
      [kept, before],
    ]);
  }
  expect(finished).toBeGreaterThan(0);
});
