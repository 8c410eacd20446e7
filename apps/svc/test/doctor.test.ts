// Asked when something is wrong already: it must end whatever hangs, name every problem with its remedy, and leak nothing.
import { once } from "node:events";
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createSocket, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { homeOf } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { newestTurnMs, openStore } from "@svc/store";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import type { ClientId } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { homeWith } from "./daemon.ts";
import { NO_SANDBOX } from "./strict-fixture.ts";
import { doctor, levels, of, type Report } from "./doctor-report.ts";

describe("without a daemon", () => {
  test("a home before its first start: nothing is an error, and whatever is not ok says what fixes it", async () => {
    using home = temporaryHome();
    const report = await doctor(home.path, ["--security"]);
    expect(report).toMatchObject({ code: 0, ok: true });
    expect(levels(report, "daemon")).toEqual(["warning"]);
    expect(levels(report, "config")).toEqual(["warning"]);
    for (const { level, fix } of report.findings) expect(fix === null).toBe(level === "ok");
    expect(existsSync(join(home.path, "run"))).toBe(false);
    const shown = await runBinary(["doctor"], { home: home.path });
    expect(shown.stdout).toMatch(/warning {2}daemon +No daemon runs.*\n +→ svc daemon/);
    expect(shown.stdout).toMatch(/\n0 errors, \d+ warnings, \d+ ok\n$/);
  });

  test("every problem of the config at once, with its line; an unreadable secret by its key; never a value", async () => {
    using home = homeWith(
      `[gateway]\nprot = 1\n\n[model]\nprovider = "opnai"\napi_key = "enc2:${"ab".repeat(40)}"\n` +
        '[channels_config.webhook]\nsecret = "planted-0123456789"\n',
    );
    const report = await doctor(home.path);
    expect(report).toMatchObject({ code: 1, ok: false });
    expect(of(report, "config").map(({ message }) => message)).toEqual([
      expect.stringMatching(/config\.toml:2.*prot/),
      expect.stringMatching(/config\.toml:5.*model\.provider/),
    ]);
    expect(of(report, "secrets-readable")).toMatchObject([
      {
        level: "error",
        message: expect.stringContaining("model.api_key"),
        fix: expect.stringContaining("model.api_key"),
      },
    ]);
    expect(report.text).not.toMatch(/planted|abab/);
  });

  test("files that others can open, secrets in plain text, variables that nobody reads", async () => {
    using home = homeWith('[channels_config.webhook]\nsecret = "planted-0123456789"\n');
    writeFileSync(join(home.path, ".secret_key"), "x", { mode: 0o644 });
    chmodSync(home.path, 0o755);
    const report = await doctor(home.path, ["--security"], { SVC_GATEWAY_PORT: "1", SVC_NOTHING: "1" });
    expect(of(report, "key-file")).toMatchObject([{ level: "error", fix: expect.stringContaining("chmod 600") }]);
    expect(of(report, "home")).toMatchObject([{ level: "warning", fix: expect.stringContaining("chmod 700") }]);
    expect(of(report, "secrets-encrypted")).toMatchObject([{ level: "warning", fix: "svc secrets encrypt" }]);
    expect(of(report, "variables").map(({ fix }) => fix)).toEqual([
      "set SVC__GATEWAY__PORT instead",
      "unset SVC_NOTHING",
    ]);
    expect(report.text).not.toContain("planted");
  });

  test("a port that another program has", async () => {
    const other = createSocket().listen(0, "127.0.0.1");
    await once(other, "listening");
    using home = homeWith(`[gateway]\nport = ${(other.address() as AddressInfo).port}\n`);
    expect(levels(await doctor(home.path), "port")).toEqual(["error"]);
    other.close();
    await once(other, "close");
    expect(levels(await doctor(home.path), "port")).toEqual(["ok"]);
  });

  test("a database that is damaged, of a newer svc, or none at all", async () => {
    using home = homeWith("");
    const { database, stateDir } = homeOf({ SVC_HOME: home.path });
    openStore({ file: database, clock: systemClock, idempotency: { ttlMs: 1, maxKeys: 1 } }).close();
    expect(levels(await doctor(home.path), "database")).toEqual(["ok"]);
    const bytes = readFileSync(database);
    writeFileSync(database, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]));
    expect(of(await doctor(home.path), "database")).toMatchObject([
      { level: "error", fix: expect.stringContaining("svc restore") },
    ]);
    bytes.writeUInt32BE(9999, 60);
    writeFileSync(database, bytes);
    expect(levels(await doctor(home.path), "database")).toEqual(["error"]);
    writeFileSync(database, "no database");
    expect(levels(await doctor(home.path), "database")).toEqual(["error"]);
    expect(existsSync(stateDir)).toBe(true);
  });
});

describe("with a daemon", () => {
  test("what is in force is judged, not what the caller's environment says; no secret and no token is told", async () => {
    using home = homeWith('[channels_config.webhook]\nsecret = "planted-0123456789"\n[secrets]\nencrypt = false\n');
    const env = { SVC__SECURITY__POLICY__AUTONOMY: "full", SVC__SECURITY__SANDBOX__BACKEND: NO_SANDBOX.backend };
    await using daemon = await startBinary({ home: home.path, env });
    const token = await daemon.pair();
    const report = await doctor(home.path, ["--security"]);
    expect(levels(report, "daemon")).toEqual(["ok"]);
    expect(levels(report, "version")).toEqual(["ok"]);
    expect(levels(report, "gateway")).toEqual(["ok"]);
    expect(levels(report, "config-in-force")).toEqual(["ok"]);
    expect(of(report, "autonomy")).toMatchObject([{ level: "error", fix: expect.stringContaining("supervised") }]);
    expect(levels(report, "file-modes")).toEqual(["ok"]);
    expect(report.code).toBe(1);
    expect(report.text).not.toContain("planted");
    expect(report.text).not.toContain(token);
  });

  test("a config that changed since it was loaded says reload, and then what only a restart brings", async () => {
    using home = homeWith("[gateway]\nport = 0\n");
    await using daemon = await startBinary({ home: home.path, env: {} });
    appendFileSync(join(home.path, "config.toml"), '[log]\nlevel = "warn"\n');
    expect(of(await doctor(daemon.home), "config-in-force")).toMatchObject([{ level: "warning", fix: "svc reload" }]);
    expect((await runBinary(["reload"], { home: home.path })).code).toBe(0);
    expect(levels(await doctor(home.path), "config-in-force")).toEqual(["ok"]);
    writeFileSync(join(home.path, "config.toml"), '[gateway]\nport = 0\nhost = "localhost"\n[log]\nlevel = "warn"\n');
    expect((await runBinary(["reload"], { home: home.path, env: { SVC__GATEWAY__PORT: "0" } })).code).toBe(0);
    expect(of(await doctor(home.path), "config-in-force")).toMatchObject([
      { level: "ok" },
      { level: "warning", message: expect.stringContaining("gateway.host"), fix: "svc restart" },
    ]);
    writeFileSync(join(home.path, "config.toml"), "[gateway]\nprot = 1\n");
    const broken = await doctor(home.path);
    expect([levels(broken, "config"), levels(broken, "config-in-force")]).toEqual([["error"], ["warning"]]);
  });

  test("an operator token that nobody used for 90 days is named, with the command that revokes it", async () => {
    using home = homeWith("");
    const store = openStore({
      file: homeOf({ SVC_HOME: home.path }).database,
      clock: systemClock,
      idempotency: { ttlMs: 1, maxKeys: 1 },
    });
    const device = { tokenHash: "", clientId: "c" as ClientId, name: "old laptop", lastSeenAt: undefined };
    const createdAt = Date.now() - 91 * 86_400_000;
    await store.devices.add({ ...device, id: "d1", tokenHash: "1", scope: "operator", createdAt });
    await store.devices.add({ ...device, id: "d2", tokenHash: "2", scope: "webhook", createdAt });
    await store.devices.add({ ...device, id: "d3", tokenHash: "3", scope: "operator", createdAt: Date.now() });
    store.close();
    await using daemon = await startBinary({ home: home.path });
    const report = await doctor(daemon.home, ["--security"]);
    expect(of(report, "idle-tokens")).toMatchObject([{ level: "warning", fix: "svc devices revoke d1" }]);
  });
});

describe("ends", () => {
  test("a daemon that hangs is told apart from one that was killed", async () => {
    await using daemon = await startBinary();
    process.kill(daemon.pid, "SIGSTOP");
    const hung = await doctor(daemon.home);
    process.kill(daemon.pid, "SIGCONT");
    const who = process.platform === "linux" ? `${daemon.pid}` : "svc logs";
    expect(of(hung, "daemon")).toMatchObject([{ level: "error", fix: expect.stringContaining(who) }]);
    await daemon.kill9();
    expect(existsSync(homeOf({ SVC_HOME: daemon.home }).controlSocket)).toBe(true);
    const stale = await doctor(daemon.home);
    expect(stale.findings.filter(({ level }) => level === "error")).toEqual([]);
    expect([stale.code, levels(stale, "daemon")]).toEqual([0, ["warning"]]);
  });

  test("FIFOs in the place of files hold nobody up", async () => {
    using home = temporaryHome();
    const { config, database, secretKey, logsDir, stateDir, lock, runDir } = homeOf({ SVC_HOME: home.path });
    for (const folder of [stateDir, logsDir, runDir]) mkdirSync(folder);
    execFileSync("mkfifo", [config, database, secretKey, lock, join(logsDir, "svc.log")]);
    const report = await doctor(home.path, ["--security"]);
    expect(report.code).toBe(1);
    for (const id of ["config", "database", "key-file"]) expect(levels(report, id)).toEqual(["error"]);
    expect(levels(report, "logs")).toEqual(["warning"]);
    expect(report.text).not.toContain("in time");
  });

  test("the process that checks can hang as it likes: what it had not told is said to be unchecked", async (context) => {
    context.skip(process.platform !== "linux", "the process is found by /proc");
    using home = temporaryHome();
    const child = spawnBinary(binaryPath(), ["doctor", "--json"], home.path);
    let output = "";
    child.stdout!.on("data", (chunk) => (output += String(chunk)));
    const ended = once(child, "close");
    const inner = await checker(child.pid!);
    process.kill(inner, "SIGSTOP");
    const [code] = await ended;
    expect(code).not.toBeNull();
    const { findings } = JSON.parse(output) as Report;
    expect(findings.some(({ message }) => /not be (?:checked in time|started)/.test(message))).toBe(true);
    await gone(inner);
  });
});

/** The process that checks, once it is one: before its exec, whoever started it would wait with it. */
async function checker(parent: number): Promise<number> {
  for (;;) {
    const [pid] = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ");
    const words = pid === undefined || pid === "" ? [] : readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    if (words.includes("doctor") && !words.includes("--json")) return Number(pid);
    await setImmediate();
  }
}

/** Resolves when nothing of it runs any more; whose child it is now decides when it is buried. */
async function gone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(statOf(pid))) await setImmediate();
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return ") X ";
  }
}

test("the time of the newest turn is read without the daemon; a file that is none has none", () => {
  using home = temporaryHome();
  const file = join(home.path, "svc.db");
  expect(newestTurnMs(file)).toBeUndefined();
  writeFileSync(file, "no database");
  expect(newestTurnMs(file)).toBeUndefined();
});
