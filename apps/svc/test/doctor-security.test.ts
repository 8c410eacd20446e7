// What is open in an installation, on purpose or not, is what its owner forgets: a strict fixture has nothing open, and each
// opening shows as its own line and no other.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import type { ClientId } from "@svc/contract";
import { homeOf } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { openStore } from "@svc/store";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { describe, expect, test } from "vitest";
import { doctor, of, type Report } from "./doctor-report.ts";
import { FILE_OPENINGS, OPENINGS, OPENINGS_OF_THE_FULLEST, PUBLIC, WHEN_PUBLIC } from "./openings.ts";
import { openLines, posture, STRICT_ENV, strictHome } from "./strict-fixture.ts";

const sound = (report: Report): void => {
  const error = report.findings.some(({ level }) => level === "error");
  expect([report.ok, report.code]).toEqual([!error, error ? 1 : 0]);
  for (const { level, fix } of report.findings) expect(fix === null).toBe(level === "ok");
  expect(report.text).not.toContain("planted");
};

describe("without a daemon", () => {
  test("a strict fixture has nothing open, and says so question by question", async () => {
    using home = strictHome();
    const report = await posture(home.path);
    expect(openLines(report)).toEqual([]);
    sound(report);
    const groups = [...new Set(report.findings.map(({ group }) => group))];
    for (const group of GROUPS) expect(groups).toContain(group);
    // Whatever it looks at beyond a plain svc doctor is the answer to one of its questions.
    const plain = new Set((await doctor(home.path, [], STRICT_ENV)).findings.map(({ id }) => id));
    const astray = report.findings.filter(({ group, id }) => group === "health" && !plain.has(id));
    expect(astray).toEqual([]);
  });

  test.for(OPENINGS)("%s", async ([, changes, open, env]) => {
    using home = strictHome(changes);
    const report = await posture(home.path, env);
    expect(openLines(report)).toEqual([...open].sort());
    sound(report);
  });

  test.for(FILE_OPENINGS)("%s", async ([, change, open]) => {
    using home = strictHome();
    change(home.path);
    const report = await posture(home.path);
    expect(openLines(report)).toEqual([...open].sort());
    sound(report);
  });
});

describe("with a daemon", () => {
  test("nothing is open either; who holds a key is told, and what came in meanwhile; no token is", async () => {
    using home = strictHome();
    await using daemon = await startBinary({ home: home.path, env: STRICT_ENV });
    const token = await daemon.pair();
    const signIn = { headers: { Origin: daemon.url, "Sec-Fetch-Site": "same-origin" }, token };
    expect((await daemon.request("/api/session", { ...signIn, body: {} })).status).toBe(200);
    const closed = await posture(home.path);
    expect(openLines(closed)).toEqual([]);
    expect(of(closed, "devices").map(({ message }) => message)).toEqual([
      expect.stringMatching(/^device \([0-9a-f]{8}\) is operator, last used \d{4}-\d\d-\d\d\.$/),
    ]);
    expect(of(closed, "page-sessions")).toMatchObject([{ level: "ok", message: "1 page is signed in." }]);

    expect((await runBinary(["pair"], { home: home.path })).code).toBe(0);
    await daemon.request("/webhook", { headers: { "X-Forwarded-For": "203.0.113.9" }, body: { message: "x" } });
    const open = await posture(home.path);
    expect(openLines(open)).toEqual(["devices/pairing-codes note", "reach/forwarded-headers error"]);
    sound(open);
    expect(closed.text + open.text).not.toContain(token);
  });

  test("it is the daemon's config and environment that count", async () => {
    using home = strictHome();
    await using daemon = await startBinary({
      home: home.path,
      env: { ...STRICT_ENV, SVC__SECURITY__POLICY__AUTONOMY: "full" },
    });
    await daemon.pair();
    expect(openLines(await posture(home.path))).toEqual(["act/autonomy error", "approve/agent-approves warning"]);
    await daemon.stop();
    expect(openLines(await posture(home.path))).toEqual([]);
  });
});

describe("without a daemon, who holds a key", () => {
  test("is read from the database, and what nobody used for 90 days is named", async () => {
    using home = strictHome();
    const file = homeOf({ SVC_HOME: home.path }).database;
    const store = openStore({ file, clock: systemClock, idempotency: { ttlMs: 1, maxKeys: 1 } });
    const device = { tokenHash: "", clientId: "c" as ClientId, lastSeenAt: undefined };
    const createdAt = Date.now() - 91 * 86_400_000;
    await store.devices.add({ ...device, id: "d1", name: "laptop", tokenHash: "1", scope: "operator", createdAt });
    await store.devices.add({ ...device, id: "d2", name: "bell", tokenHash: "2", scope: "webhook", createdAt });
    await store.vault.set("webauthn", "user/passkey", () => "sealed");
    store.close();
    chmodSync(file, 0o600);
    const report = await posture(home.path);
    expect(openLines(report)).toEqual(["devices/idle-tokens warning"]);
    expect(of(report, "idle-tokens")).toMatchObject([{ fix: "svc devices revoke d1" }]);
    expect(of(report, "passkeys").map(({ message }) => message)).toEqual([
      "Passkeys are off.",
      "1 passkey is registered.",
    ]);
    const paired = new Date(createdAt).toISOString().slice(0, 10);
    expect(of(report, "devices").map(({ message }) => message)).toEqual([
      `laptop (d1) is operator, never used, paired ${paired}.`,
      `bell (d2) is webhook, never used, paired ${paired}.`,
    ]);
  });

  test("can't be told from a database that is none", async () => {
    using home = strictHome();
    const { database, stateDir } = homeOf({ SVC_HOME: home.path });
    mkdirSync(stateDir, { mode: 0o700 });
    writeFileSync(database, "no database", { mode: 0o600 });
    expect(openLines(await posture(home.path))).toEqual(["devices/devices warning"]);
  });
});

describe("in the build of everything", () => {
  test.for(OPENINGS_OF_THE_FULLEST)("%s", async ([, changes, open]) => {
    using home = strictHome(changes);
    const report = await posture(home.path, {}, fullestBinaryPath());
    expect(openLines(report)).toEqual([...open].sort());
    sound(report);
  });

  test("a backend that a build does not have tells nobody anything", async () => {
    using home = strictHome({ ...PUBLIC, observability: { backend: "metrics" } });
    expect(openLines(await posture(home.path))).toEqual(WHEN_PUBLIC);
  });
});

describe("as a person sees it", () => {
  test("questions with their answers; of what else svc doctor looks at only what is wrong", async () => {
    using home = strictHome({ gateway: { allowed_hosts: ["a.example.org"] } });
    const { stdout, code } = await runBinary(["doctor", "--security"], { home: home.path, env: STRICT_ENV });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Who can reach it\nok {7}public-bind +Only this machine/);
    expect(stdout).toMatch(/\nnote {5}allowed-hosts .*\n +→ take the names/);
    const titles = stdout.split("\n").filter((line) => /^[A-Z]/.test(line));
    expect(titles).toEqual([
      "Who can reach it",
      "What is taken without a proof",
      "Who may write to the agent",
      "Who may approve",
      "What may act",
      "Devices and sign-ins",
      "What leaves this machine",
      "What strangers can see",
      "How it is kept",
      "Whether it works",
    ]);
    expect(stdout).toMatch(
      /Whether it works\n(?:(?:warning|error|  ).*\n)+\n0 errors, \d+ warnings, 1 notes, \d+ ok\n$/,
    );
    const plain = (await runBinary(["doctor"], { home: home.path, env: STRICT_ENV })).stdout;
    expect(plain).not.toMatch(/allowed-hosts|^note/m);
  });

  test("--help says what it shows", async () => {
    using home = strictHome();
    const { stdout } = await runBinary(["doctor", "--help"], { home: home.path });
    expect(stdout).toMatch(/--security +Audit exposure/);
    expect(stdout).toContain("svc doctor --security --json");
  });
});

const GROUPS = ["reach", "proof", "write", "approve", "act", "devices", "leaves", "told", "kept"];
