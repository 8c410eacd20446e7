// A changed config that needs a restart nobody wants, a mistyped one that takes the service down, a lock-down that running
// turns do not notice: what a reload is for.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type FakeModelServer } from "@svc/testkit/fake-model/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { homeWith, type Paired, post, startPaired, UNGUARDED } from "./daemon.ts";

const SECRET = "first-secret-of-the-webhook";
const OTHER = "second-secret-of-the-webhook";
const withSecret = (secret: string): string => `[channels_config.webhook]\nsecret = "${secret}"\n`;

const configure = (daemon: RunningBinary, toml: string): void =>
  writeFileSync(join(daemon.home, "config.toml"), toml, { mode: 0o600 });

interface Report {
  readonly changed: string[];
  readonly features: string[];
  readonly restart: string[];
}

async function reload(daemon: RunningBinary): Promise<Report> {
  const { code, stdout, stderr } = await runBinary(["reload", "--json"], { home: daemon.home });
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout) as Report;
}

const statusWith = async (daemon: RunningBinary, token: string, secret: string): Promise<number> =>
  (await post(daemon, token, "hello", { "X-Webhook-Secret": secret })).status;

const shell = (command: string): string => `/tool shell ${JSON.stringify({ command })}`;
/** A command that says on disk that it runs, and ends when the test says so. `name`: of the test, which shares its daemon. */
const waiting = (name: string): string =>
  `touch began-${name}; while [ ! -e go-${name} ]; do sleep 0.02; done; echo went`;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const inWorkspace = (daemon: RunningBinary, file: string): string => join(daemon.home, "workspace", file);

/** For the tests that reload, and don't start anything: each begins with a config of its own. */
let shared: Paired;

beforeAll(async () => {
  shared = await startPaired();
});

afterAll(() => shared.daemon.close());

async function sharedWith(toml: string): Promise<Paired> {
  configure(shared.daemon, toml);
  await reload(shared.daemon);
  return shared;
}

/** What the daemon prints from now on. */
function listen(daemon: RunningBinary): { says(pattern: RegExp): Promise<void> } {
  const from = daemon.output().length;
  return { says: (pattern) => expect.poll(() => daemon.output().slice(from)).toMatch(pattern) };
}

describe("svc reload", () => {
  test("a rotated secret is in force for the next request, and the old one no more", async () => {
    const { daemon, token } = await sharedWith(withSecret(SECRET));
    expect(await statusWith(daemon, token, SECRET)).toBe(200);
    configure(daemon, withSecret(OTHER));
    expect(await statusWith(daemon, token, SECRET)).toBe(200);
    expect(await reload(daemon)).toMatchObject({ changed: ["channels_config.webhook"], features: [], restart: [] });
    expect([await statusWith(daemon, token, SECRET), await statusWith(daemon, token, OTHER)]).toEqual([401, 200]);
    for (const secret of [SECRET, OTHER]) expect(daemon.output()).not.toContain(secret);
  });

  test("SIGHUP does the same; a config as it was changes nothing", async () => {
    const { daemon, token } = await sharedWith(withSecret(SECRET));
    expect(await reload(daemon)).toMatchObject({ changed: [], restart: [] });
    configure(daemon, `# a comment\n${withSecret(OTHER)}`);
    const log = listen(daemon);
    process.kill(daemon.pid, "SIGHUP");
    await log.says(/the config was reloaded.*channels_config\.webhook/);
    expect(await statusWith(daemon, token, OTHER)).toBe(200);
  });

  test("SIGHUP while the daemon starts, when it has read the config, is not lost", async () => {
    using home = homeWith(withSecret(SECRET));
    const daemon = spawnBinary(binaryPath(), ["daemon"], home.path, { SVC__GATEWAY__PORT: "0" });
    using stack = new DisposableStack();
    stack.defer(() => daemon.kill("SIGKILL"));
    const exited = new Promise((resolve) => daemon.once("exit", resolve));
    let output = "";
    daemon.stdout!.on("data", (chunk: Buffer) => (output += chunk));
    daemon.stderr!.on("data", (chunk: Buffer) => (output += chunk));
    await expect.poll(() => output, { interval: 1 }).toContain("the gateway listens");
    writeFileSync(join(home.path, "config.toml"), withSecret(OTHER), { mode: 0o600 });
    daemon.kill("SIGHUP");
    await expect.poll(() => output).toMatch(/the config was reloaded.*channels_config\.webhook/);
    daemon.kill("SIGTERM");
    expect(await exited).toBe(0);
  });

  test("a bad config leaves the old one running and says every problem with its line", async () => {
    const { daemon, token } = await sharedWith(withSecret(SECRET));
    configure(daemon, `[gateway]\nprot = 1\n${withSecret(OTHER)}[model]\nprovider = "opneai"\n`);
    const refused = await runBinary(["reload"], { home: daemon.home });
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain("config.toml:2");
    expect(refused.stderr).toContain("config.toml:6");
    expect(refused.stderr).not.toContain(OTHER);
    expect([await statusWith(daemon, token, SECRET), await statusWith(daemon, token, OTHER)]).toEqual([200, 401]);
    const log = listen(daemon);
    process.kill(daemon.pid, "SIGHUP");
    await log.says(/the config was not reloaded/);
    expect(await statusWith(daemon, token, SECRET)).toBe(200);
  });

  test("who turns pairing on gets a code to begin with", async () => {
    using home = homeWith("[gateway]\nrequire_pairing = false\n");
    await using daemon = await startBinary({ home: home.path });
    expect(daemon.output()).not.toContain("pairing code:");
    configure(daemon, "");
    await reload(daemon);
    expect(await daemon.pair()).toMatch(/^svc_/);
  });

  test("without a daemon says so", async () => {
    using home = homeWith("");
    expect((await runBinary(["reload"], { home: home.path })).code).toBe(69);
  });
});

describe("what runs meanwhile", () => {
  test("a turn goes on with its command; a tool that was switched off is refused to the next one", async () => {
    const { daemon, token } = await sharedWith(UNGUARDED);
    const turn = post(daemon, token, shell(waiting("tool")));
    await until(() => existsSync(inWorkspace(daemon, "began-tool")));
    configure(daemon, `${UNGUARDED}\n[tools]\ndisabled = ["shell"]\n`);
    expect(await reload(daemon)).toMatchObject({ changed: ["tools"] });
    expect((await post(daemon, token, shell("echo no"))).body.response).toContain("switched off");
    writeFileSync(inWorkspace(daemon, "go-tool"), "");
    expect((await turn).body.response).toContain("went");
  });

  test("an operator who locks down is obeyed by the next call of a turn that runs", async () => {
    await using model = await fakeModelServer({
      script: [
        { calls: [{ name: "shell", input: { command: waiting("locked") } }] },
        { calls: [{ name: "file_write", input: { path: "late.txt", content: "late" } }] },
        { text: "done" },
      ],
    });
    const config = (policy: string): string => `${modelAt(model)}${policy}`;
    const { daemon, token } = await sharedWith(config(UNGUARDED));
    const turn = post(daemon, token, "do both");
    await until(() => existsSync(inWorkspace(daemon, "began-locked")));
    configure(daemon, config(UNGUARDED.replace('"full"', '"read_only"')));
    expect(await reload(daemon)).toMatchObject({ changed: ["security.policy"] });
    writeFileSync(inWorkspace(daemon, "go-locked"), "");
    expect((await turn).body.response).toBe("done");
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("read_only");
    expect(existsSync(inWorkspace(daemon, "late.txt"))).toBe(false);
  });

  test("another model answers the next turn; the running one keeps its own", async () => {
    await using first = await fakeModelServer({
      script: [{ calls: [{ name: "shell", input: { command: waiting("model") } }] }, { text: "of the first" }],
    });
    await using second = await fakeModelServer({ script: [{ text: "of the second" }] });
    const { daemon, token } = await sharedWith(`${modelAt(first)}${UNGUARDED}`);
    const running = post(daemon, token, "one");
    await until(() => existsSync(inWorkspace(daemon, "began-model")));
    configure(daemon, `${modelAt(second)}${UNGUARDED}`);
    expect(await reload(daemon)).toMatchObject({ changed: ["model"] });
    expect((await post(daemon, token, "two")).body.response).toBe("of the second");
    writeFileSync(inWorkspace(daemon, "go-model"), "");
    expect((await running).body.response).toBe("of the first");
  });

  test("another workspace holds for the next call", async () => {
    const { daemon, token } = await sharedWith(UNGUARDED);
    configure(daemon, `${UNGUARDED}\n[workspace]\npath = "elsewhere"\n`);
    await reload(daemon);
    await post(daemon, token, shell("echo here > file"));
    expect(readFileSync(join(daemon.home, "elsewhere/file"), "utf8")).toBe("here\n");
  });
});

describe("what a reload can't change", () => {
  test("is said, and said again, until the restart, which comes in the same process", async () => {
    using home = homeWith("");
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const before = await statusOf(daemon);
    configure(daemon, '[gateway]\nhost = "127.0.0.2"\n');
    expect(await reload(daemon)).toMatchObject({ changed: ["gateway"], restart: ["gateway.host"] });
    expect(await reload(daemon)).toMatchObject({ changed: [], restart: ["gateway.host"] });
    expect((await post(daemon, token, "hello")).status).toBe(200);
    const { code, stdout } = await runBinary(["restart", "--json"], { home: daemon.home });
    const after = await statusOf(daemon);
    expect([code, JSON.parse(stdout)]).toEqual([0, { restarted: true, url: after.url }]);
    expect(after.url).toContain("127.0.0.2");
    expect([after.pid, after.instance === before.instance]).toEqual([daemon.pid, false]);
    const answer = await fetch(`${after.url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
  });

  test("a restart lets running turns end, and refuses a config that would not come up again", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    configure(daemon, "[gateway]\nprot = 1\n");
    expect((await runBinary(["restart"], { home: daemon.home })).code).toBe(78);
    // An address of another machine (RFC 5737): nothing could listen there.
    configure(daemon, '[gateway]\nhost = "203.0.113.5"\nallow_public_bind = true\n');
    expect((await runBinary(["restart"], { home: daemon.home })).stderr).toContain("can't be listened on");
    configure(daemon, UNGUARDED);
    const turn = post(daemon, token, shell(waiting("restart")));
    await until(() => existsSync(inWorkspace(daemon, "began-restart")));
    const restarting = runBinary(["restart"], { home: daemon.home });
    await daemon.waitFor(/stopping: no new work is taken/);
    writeFileSync(inWorkspace(daemon, "go-restart"), "");
    expect((await turn).body.response).toContain("went");
    expect((await restarting).code).toBe(0);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });
});

interface Status {
  readonly pid: number;
  readonly instance: string;
  readonly url: string;
}

const statusOf = async (daemon: RunningBinary): Promise<Status> =>
  JSON.parse((await runBinary(["status", "--json"], { home: daemon.home })).stdout) as Status;

const modelAt = (server: FakeModelServer): string =>
  `[model]\nprovider = "openai-compatible"\nname = "fake"\nbase_url = "${server.url}"\n`;
