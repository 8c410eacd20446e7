// Settings over HTTP with the real binary: a change that is in force without a restart, one that the daemon refuses, and secrets that
// nothing tells again.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { ERRNO, faultyWrites, NO_FAULTY_WRITES } from "@svc/testkit/real/faulty-writes";
import { requireReal } from "@svc/testkit/require-real";
import { expect, onTestFinished, test } from "vitest";
import { homeWith, startPaired } from "./daemon.ts";

const CONFIG = `# mine
[gateway]
port = 0 # any

[log]
level = "info" # enough
`;

type Json = Readonly<Record<string, unknown>>;

async function open(toml = CONFIG, envOf: (home: string) => Record<string, string> = () => ({})) {
  const home = homeWith(toml);
  const { daemon, token } = await startPaired({ home: home.path, env: envOf(home.path) });
  const file = join(home.path, "config.toml");
  const ask = async (method: string, path: string, body?: object) => {
    const response = await daemon.request(`/api/settings${path}`, { method, token, ...(body && { body }) });
    return { status: response.status, body: (await response.json()) as Json };
  };
  const revision = async (): Promise<string> => (await ask("GET", "")).body["revision"] as string;
  const save = async (...edits: object[]) => ask("PATCH", "", { revision: await revision(), edits });
  return {
    daemon,
    token,
    home,
    ask,
    save,
    revision,
    text: () => readFileSync(file, "utf8"),
    write: (text: string) => writeFileSync(file, text),
    [Symbol.asyncDispose]: async () => {
      await daemon[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

test("a change is previewed, saved with the comments kept, in force at once, and undone", async () => {
  await using fixture = await open();
  const edits = [{ path: ["gateway", "allowed_hosts"], value: ["svc.test"] }];
  const preview = await fixture.ask("POST", "/preview", { edits });
  expect(preview.body["problems"]).toEqual([]);
  expect(JSON.stringify(preview.body["diff"])).toContain("svc.test");
  expect(fixture.text()).toBe(CONFIG);
  const inForce = async () => (await fixture.daemon.request("/api/config", { token: fixture.token })).json();
  const saved = await fixture.save(...edits);
  expect(saved).toMatchObject({ status: 200, body: { changed: ["gateway"], restart: [] } });
  expect(fixture.text()).toBe(CONFIG.replace("# any", '# any\nallowed_hosts = ["svc.test"]'));
  expect(await inForce()).toMatchObject({ gateway: { allowed_hosts: ["svc.test"] } });
  const { version } = saved.body as { version: number };
  expect((await fixture.ask("GET", "/versions")).body["versions"]).toMatchObject([
    { version, keys: ["gateway.allowed_hosts"] },
  ]);
  const undone = await fixture.ask("POST", `/versions/${version}/undo`, { revision: await fixture.revision() });
  expect(undone.status).toBe(200);
  expect(fixture.text()).toBe(CONFIG);
  expect(await inForce()).toMatchObject({ gateway: { allowed_hosts: [] } });
});

test("what the daemon can't put into force leaves the file as it was", async () => {
  await using fixture = await open();
  const refused = await fixture.save({ path: ["workspace", "path"], value: "/proc/no-such-folder" });
  expect([refused.status, refused.body["code"]]).toEqual([409, "SETTINGS_REFUSED"]);
  expect(fixture.text()).toBe(CONFIG);
  expect((await fixture.ask("GET", "/versions")).body["versions"]).toEqual([]);
  const invalid = await fixture.save({ path: ["gateway", "prot"], value: 1 });
  expect([invalid.status, invalid.body["code"]]).toEqual([422, "SETTINGS_INVALID"]);
  expect(invalid.body["error"]).toContain("config.toml:4  gateway.prot: unknown key");
  expect(fixture.text()).toBe(CONFIG);
});

test("a platform's own name is answered with the section that it has, and the line", async () => {
  await using fixture = await open();
  const aliases = Object.entries((await fixture.ask("GET", "")).body["aliases"] as Record<string, string>);
  expect(aliases.length).toBeGreaterThan(8);
  for (const [alias, section] of aliases) {
    const edits = [{ path: ["channels_config", alias, "enabled"], value: true }];
    const { problems } = (await fixture.ask("POST", "/preview", { edits })).body as { problems: object[] };
    expect(problems).toMatchObject([
      { key: `channels_config.${alias}`, message: `this section is called [${section}]`, line: expect.any(Number) },
    ]);
  }
});

test("of two browsers and an editor that change the file at once, one wins and the others are told", async () => {
  await using fixture = await open();
  const revision = await fixture.revision();
  const one = (level: string) =>
    fixture.ask("PATCH", "", { revision, edits: [{ path: ["log", "level"], value: level }] });
  const answers = await Promise.all([one("debug"), one("warn"), one("error")]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  const seen = await fixture.revision();
  fixture.write(`${fixture.text()}# by hand\n`);
  const late = await fixture.ask("PATCH", "", { revision: seen, edits: [{ path: ["log", "level"], value: "info" }] });
  expect([late.status, late.body["code"]]).toEqual([409, "CONFIG_CHANGED"]);
  expect(fixture.text()).toContain("# by hand");
});

test("a full or a read-only disk refuses a save with its cause; the file stays whole, and nothing is left behind", async (context) => {
  const faults = faultyWrites();
  if (!faults) requireReal(context, NO_FAULTY_WRITES);
  onTestFinished(() => faults[Symbol.dispose]());
  await using fixture = await open(CONFIG, (home) => faults.env(home));
  const edit = { path: ["log", "level"], value: "debug" };
  for (const [name, why] of [
    ["ENOSPC", "the disk is full"],
    ["EROFS", "can't be written"],
  ] as const) {
    faults.fail(ERRNO[name]);
    const refused = await fixture.save(edit);
    expect([refused.status, refused.body["code"]]).toEqual([409, "CONFIG_UNWRITABLE"]);
    expect(refused.body["error"]).toContain(why);
    faults.fail(0);
    expect(fixture.text()).toBe(CONFIG);
    expect((await fixture.ask("GET", "/versions")).body["versions"]).toEqual([]);
    const left = readdirSync(fixture.home.path, { recursive: true }).map(String);
    expect(left.filter((path) => path.endsWith(".tmp"))).toEqual([]);
  }
  expect((await fixture.save(edit)).status).toBe(200);
  expect(fixture.text()).toBe(CONFIG.replace('"info"', '"debug"'));
});

test("a secret is read back by nothing: no answer, file, log line, event or audit entry", async () => {
  const model = await fakeModelServer({ script: () => ({ text: "OK" }) });
  await using fixture = await open();
  const key = "sk-planted-0123456789";
  const events: string[] = [];
  const stream = await fixture.daemon.request("/api/events", { token: fixture.token });
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body!) events.push(decoder.decode(chunk as Uint8Array));
  })().catch(() => undefined);
  const edits = [
    { path: ["model", "provider"], value: "openai-compatible" },
    { path: ["model", "name"], value: "local" },
    { path: ["model", "base_url"], value: model.url },
    { path: ["model", "api_key"], value: key },
  ];
  const told = [
    await fixture.ask("POST", "/preview", { edits }),
    await fixture.ask("POST", "/model-test", { edits, agent: "default" }),
  ];
  expect(told[1]!.body).toMatchObject({ ok: true, model: "local" });
  const saved = await fixture.save(...edits);
  const { version } = saved.body as { version: number };
  told.push(
    saved,
    await fixture.ask("GET", ""),
    await fixture.ask("GET", "/versions"),
    await fixture.ask("GET", `/versions/${version}`),
  );
  // The key never goes to another server than the one that it was given for.
  const elsewhere = await fakeModelServer({ script: () => ({ text: "OK" }) });
  const moved = [{ path: ["model", "base_url"], value: elsewhere.url }];
  const refused = await fixture.ask("POST", "/model-test", { edits: moved });
  expect([refused.status, refused.body["code"]]).toEqual([422, "SETTINGS_INVALID"]);
  expect((await fixture.ask("POST", "/models", { edits: moved })).status).toBe(422);
  expect((await fixture.save(...moved)).status).toBe(422);
  expect(elsewhere.requests).toHaveLength(0);
  await fixture.daemon
    .request("/api/audit", { token: fixture.token })
    .then(async (audit) => told.push({ status: 200, body: (await audit.json()) as Json }));
  await fixture.daemon[Symbol.asyncDispose]();
  await reading;
  const logs = readdirSync(join(fixture.home.path, "logs")).map((name) =>
    readFileSync(join(fixture.home.path, "logs", name), "utf8"),
  );
  const kept = readdirSync(join(fixture.home.path, "versions")).map((name) =>
    readFileSync(join(fixture.home.path, "versions", name), "utf8"),
  );
  expect(JSON.stringify([told, events, logs, kept]) + fixture.text()).not.toContain(key);
  expect(JSON.stringify(told)).toContain("settings-change");
  await Promise.all([model, elsewhere].map((server) => server[Symbol.asyncDispose]()));
});
