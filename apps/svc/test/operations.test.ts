// What the page shows of a running service, over HTTP with the real binary: usage, log, checks, backups; and what no answer holds.
import { appendFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fakeModelServer, type FakeModelServer } from "@svc/testkit/fake-model/server";
import type { TemporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, expect, test } from "vitest";
import { homeWith, localModel, type Paired, post, startPaired } from "./daemon.ts";

const SECRET = "planted-Zx81Qw7Lm204-secret";

let model: FakeModelServer;
let home: TemporaryHome;
let running: Paired;
beforeAll(async () => {
  model = await fakeModelServer({ script: () => ({ text: "OK" }) });
  home = homeWith(`${localModel(model)}\napi_key = "${SECRET}"\n[gateway]\nport = 0\n`);
  running = await startPaired({ home: home.path });
});
afterAll(async () => {
  await running?.daemon[Symbol.asyncDispose]();
  home?.[Symbol.dispose]();
  await model?.close();
});

async function ask(path: string, body?: object) {
  const { daemon, token } = running;
  const response = await daemon.request(`/api${path}`, { token, ...(body && { method: "POST", body }) });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

test("the first steps of a new service: the model and the sandbox are told as they are", async () => {
  const { body } = await ask("/setup");
  expect(body).toMatchObject({ model: true, channel: false, tool: false, backup: null });
  expect(["installed", "absent", "unsupported"]).toContain(body["service"]);
});

test("usage is told by day, agent, model and channel", async () => {
  await post(running.daemon, running.token, "hello");
  const { body } = await ask("/usage?days=1");
  expect(body["usage"]).toMatchObject([
    { agent: "default", model: "local", channel: "", turns: 1, unknown_cost_turns: 1, cost_usd: 0 },
  ]);
  expect(body["since"]).toBe(body["today"]);
  expect((await ask("/usage?days=0")).status).toBe(400);
});

test("the log goes on from where it was read, and a secret in it is dots", async () => {
  const first = await ask("/logs?limit=5");
  const file = join(home.path, "logs", "svc.log");
  const line = { time: "2026-01-01T00:00:00.000Z", level: "warn", message: `it was ${SECRET}`, key: SECRET };
  appendFileSync(file, `${JSON.stringify(line)}\nnot ours: ${SECRET}\n`);
  const { body } = await ask(`/logs?after=${first.body["cursor"]}`);
  const messages = (body["lines"] as unknown as { message: string }[]).map(({ message }) => message);
  expect(messages.filter((message) => /^(?:it was|not ours)/.test(message))).toHaveLength(2);
  expect(JSON.stringify(body)).not.toContain(SECRET);
  expect((await ask("/logs?level=warn&text=IT%20WAS")).body["lines"]).toHaveLength(1);
  expect((await ask("/logs?after=../../etc/passwd")).status).toBe(400);
});

test("the checks are those of svc doctor, each with its fix, for two who ask at once too", async () => {
  const [one, other] = await Promise.all([ask("/doctor", {}), ask("/doctor", {})]);
  expect(one).toEqual(other);
  const findings = one.body["findings"] as unknown as { id: string; level: string; fix: string | null }[];
  const { stdout } = await runBinary(["doctor", "--json"], { home: home.path });
  const told = (JSON.parse(stdout) as { findings: { id: string }[] }).findings;
  expect(new Set(findings.map(({ id }) => id))).toEqual(new Set(told.map(({ id }) => id)));
  expect(findings.find(({ id }) => id === "price")).toMatchObject({
    level: "warning",
    fix: expect.stringContaining("prices"),
  });
  expect(findings.every(({ level, fix }) => (level === "ok") === (fix === null))).toBe(true);
  const posture = await ask("/doctor", { security: true });
  expect(JSON.stringify(posture.body)).toContain('"group":"reach"');
  expect(JSON.stringify(posture.body)).not.toContain(SECRET);
});

test("a backup is this user's alone, the newest five are kept, and files of others stay", async () => {
  const folder = join(home.path, "backups");
  mkdirSync(folder, { recursive: true });
  const old = Array.from({ length: 5 }, (_, n) => `svc-backup-2020010${n + 1}T000000Z.tar.gz`);
  for (const name of [...old, "svc-backup-mine.tar.gz"]) writeFileSync(join(folder, name), "");
  const made = await ask("/backups", {});
  expect(made.status).toBe(200);
  const names = readdirSync(folder);
  expect(names).toHaveLength(6);
  expect(names).toContain("svc-backup-mine.tar.gz");
  expect(names).not.toContain(old[0]);
  const others = process.platform === "win32" ? 0 : statSync(String(made.body["file"])).mode & 0o077;
  expect(others).toBe(0);
  expect((await ask("/setup")).body["backup"]).toMatchObject({ file: made.body["file"], bytes: made.body["bytes"] });
  const audit = JSON.stringify((await ask("/audit")).body);
  expect(audit).toContain('"kind":"backup"');
});

test("a device that may only read is refused every one of them", async () => {
  const { stdout } = await runBinary(["pair", "--scope", "read", "--json"], { home: home.path });
  const token = await running.daemon.pair((JSON.parse(stdout) as { code: string }).code);
  for (const [method, path] of [
    ["GET", "/setup"],
    ["GET", "/usage"],
    ["GET", "/logs"],
    ["POST", "/doctor"],
    ["POST", "/backups"],
    ["GET", "/settings"],
    ["PATCH", "/settings"],
    ["POST", "/settings/preview"],
    ["GET", "/settings/versions"],
    ["GET", "/settings/versions/1"],
    ["POST", "/settings/versions/1/undo"],
    ["POST", "/settings/models"],
    ["POST", "/settings/model-test"],
    ["POST", "/settings/channel-test"],
  ] as const) {
    const body = method === "GET" ? {} : { body: {} };
    const response = await running.daemon.request(`/api${path}`, { method, token, ...body });
    expect([method, path, response.status]).toEqual([method, path, 403]);
  }
});
