// Workplace chat on the whole binary: two platforms at once in one feature, callbacks that are forged, and kills at any instant, after
// which every message has one answer.
import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SampleDelivery } from "@svc/contract";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { workchatDelivery, workchatSealed, workchatSigned } from "@svc/testkit/platforms/workchat/delivery";
import { WORKCHAT_APP, workchatDmOf, workchatId, workchatMessageEvent } from "@svc/testkit/platforms/workchat/events";
import { startWorkchat, type Workchat } from "@svc/testkit/platforms/workchat/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";

const KEY = "encrypt-key-of-the-whole-binary";
const TOKEN = "verification-token-of-the-whole-binary";
const SECRETS = { workchat: "app-secret-of-the-first-app", workchat_cn: "app-secret-of-the-second-app" };
const OTHER_APP = "cli_00112233445566ff";
const PEOPLE = Array.from({ length: 5 }, (_, at) => workchatId("ou", `person ${at}`));
const STRANGER = workchatId("ou", "stranger");
const [PERSON = ""] = PEOPLE;

interface WorkchatFixture extends AsyncDisposable {
  readonly home: string;
  /** By long connection. */
  readonly first: Workchat;
  /** By callback. */
  readonly second: Workchat;
  daemon: RunningBinary;
  start(): Promise<void>;
  svc(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  post(delivery: SampleDelivery, path?: string): Promise<number>;
}

async function startFixture(): Promise<WorkchatFixture> {
  const stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const binary = fullestBinaryPath();
  const model = stack.use(
    await fakeModelServer({
      script: ({ body }) => {
        const messages = body["messages"] as { role: string; content: unknown }[];
        return { text: `Answer to: ${String(messages.findLast(({ role }) => role === "user")!.content)}` };
      },
    }),
  );
  const people = [...PEOPLE, STRANGER];
  const first = stack.adopt(await startWorkchat({ appSecret: SECRETS.workchat, people }), (one) => one.close());
  const second = stack.adopt(await startWorkchat({ appId: OTHER_APP, appSecret: SECRETS.workchat_cn, people }), (one) =>
    one.close(),
  );
  const config = `
[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model.url}"
api_key = "key-of-the-model"

[channels_config.workchat]
app_id = "${WORKCHAT_APP.appId}"
app_secret = "${SECRETS.workchat}"
allowed_users = ${JSON.stringify(PEOPLE)}
draft_update_interval_ms = 100
api_url = "${first.url}"

[channels_config.workchat_cn]
app_id = "${OTHER_APP}"
app_secret = "${SECRETS.workchat_cn}"
receive_mode = "webhook"
encrypt_key = "${KEY}"
verification_token = "${TOKEN}"
allowed_users = ${JSON.stringify(PEOPLE)}
api_url = "${second.url}"
`;
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  const fixture: WorkchatFixture = {
    home: home.path,
    first,
    second,
    // Set by `start`.
    daemon: undefined as unknown as RunningBinary,
    async start() {
      fixture.daemon = await startBinary({ home: home.path, binary });
    },
    svc: (...args) => runBinary(args, { home: home.path, binary }),
    async post({ method, headers, body }, path = "/workchat-cn") {
      const answer = await fetch(`${fixture.daemon.url}${path}`, { method, headers, body: Buffer.from(body) });
      await answer.arrayBuffer();
      return answer.status;
    },
    async [Symbol.asyncDispose]() {
      await (fixture.daemon as RunningBinary | undefined)?.close();
      await stack.disposeAsync();
    },
  };
  await fixture.start();
  return fixture;
}

let count = 0;
const event = (text: string, from = PERSON, token = TOKEN) =>
  workchatMessageEvent({ id: `m${(count += 1)}`, from, text, atMs: Date.now(), appId: OTHER_APP, token });
const delivery = (text: string, atMs = Date.now()): SampleDelivery => workchatDelivery(event(text), KEY, atMs);
const textsOf = ({ sent }: Workchat): string[] => sent.map(({ text }) => text);

describe("two platforms at once", () => {
  let fixture: WorkchatFixture;
  beforeAll(async () => {
    fixture = await startFixture();
    await fixture.first.socket.opened(1);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const sees = (platform: Workchat, text: string) =>
    eventually(
      () => textsOf(platform),
      (texts) => texts.includes(text),
    );

  test("each answers its own people, by long connection and by callback", async () => {
    fixture.first.write({ id: "a", from: PERSON, text: "hello there", atMs: Date.now() });
    expect(await fixture.post(delivery("hello here"))).toBe(200);
    await sees(fixture.first, "Answer to: hello there");
    await sees(fixture.second, "Answer to: hello here");
    expect([textsOf(fixture.first), textsOf(fixture.second)].map(({ length }) => length)).toEqual([1, 1]);
    await eventually(
      () => fixture.first.reactions.length,
      (length) => length === 1,
    );
    expect(fixture.first.socket.faults).toEqual([]);
  });

  test("svc channels lists, tests and sets up both; svc features tells of one feature", async () => {
    const { channels } = JSON.parse((await fixture.svc("channels", "list", "--json")).stdout) as { channels: object[] };
    expect(channels).toMatchObject([
      { id: "workchat", feature: "channel-workchat", state: "running", callback_urls: [] },
      { id: "workchat_cn", feature: "channel-workchat-cn", state: "running", signed: true },
    ]);
    for (const id of ["workchat", "workchat-cn"]) {
      expect((await fixture.svc("channels", "test", id)).stdout).toContain(WORKCHAT_APP.name);
    }
    expect((await fixture.svc("channels", "setup", "workchat")).stdout).toContain("im.message.receive_v1");
    expect((await fixture.svc("channels", "setup", "workchat-cn")).stdout).toContain("public https addresses only");
    const { features } = JSON.parse((await fixture.svc("features", "--json")).stdout) as { features: { id: string }[] };
    expect(features.filter(({ id }) => id.startsWith("channel-workchat"))).toHaveLength(1);
  });

  test("svc send writes to a person of either", async () => {
    for (const [id, platform] of [
      ["workchat", fixture.first],
      ["workchat_cn", fixture.second],
    ] as const) {
      expect((await fixture.svc("send", id, PERSON, `to ${id}`)).stdout).toMatch(/^out-\d+ sent/);
      await sees(platform, `to ${id}`);
      expect(platform.sent.at(-1)?.chat).toBe(workchatDmOf(PERSON));
    }
  });

  test("svc webhook send posts a message as the platform would", async () => {
    const { code, stderr } = await fixture.svc("webhook", "send", "workchat_cn", "--text", "a sample");
    expect([code, stderr]).toEqual([0, ""]);
    await eventually(
      async () => (await fixture.svc("inbox", "list", "--box", "in", "--json")).stdout,
      (inbox) => inbox.includes("a sample"),
    );
  });

  test("a reload that takes one section away leaves the other alone", async () => {
    const before = fixture.first.socket.connections;
    expect((await fixture.svc("config", "set", "channels_config.workchat_cn.enabled", "false")).code).toBe(0);
    expect((await fixture.svc("reload")).code).toBe(0);
    expect(await fixture.post(delivery("anybody?"))).toBe(404);
    expect((await fixture.svc("config", "set", "channels_config.workchat_cn.enabled", "true")).code).toBe(0);
    expect((await fixture.svc("reload")).code).toBe(0);
    expect(await fixture.post(delivery("back again"))).toBe(200);
    await sees(fixture.second, "Answer to: back again");
    expect(before).toBe(1);
  });

  test("callbacks that are forged are 401, and nothing of them is kept", async () => {
    const { stdout: inbox } = await fixture.svc("inbox", "list", "--json");
    const genuine = delivery("forged?");
    const altered = Buffer.from(genuine.body);
    altered[20] = altered[20]! ^ 1;
    const wrongKey = workchatSealed(Buffer.from(JSON.stringify(event("forged?"))), "another key");
    const badToken = workchatDelivery(event("forged?", PERSON, "another token"), KEY, Date.now());
    const forged: Readonly<Record<string, SampleDelivery>> = {
      "an altered body": { ...genuine, body: altered },
      "a stale one": delivery("forged?", Date.now() - 301_000),
      "one from the future": delivery("forged?", Date.now() + 302_000),
      "signed with another key": workchatSigned(wrongKey, "another key", Date.now()),
      "another token": badToken,
      "without headers": { ...genuine, headers: { "content-type": "application/json" } },
      "in plain text": { ...genuine, headers: {}, body: Buffer.from(JSON.stringify(event("forged?"))) },
    };
    const statuses: Record<string, number> = {};
    for (const [what, one] of Object.entries(forged)) statuses[what] = await fixture.post(one);
    expect(statuses).toEqual(Object.fromEntries(Object.keys(forged).map((what) => [what, 401])));
    expect((await fixture.svc("inbox", "list", "--json")).stdout).toBe(inbox);
    expect(await fixture.post(genuine, "/workchat")).toBe(404);
  });

  test("a nonce counts once: a callback that is posted again is 401, also after a kill and a new start", async () => {
    const genuine = delivery("only once");
    expect(await fixture.post(genuine)).toBe(200);
    expect(await fixture.post(genuine)).toBe(401);
    const again = workchatSigned(genuine.body, KEY, Date.now(), "anothernonce");
    expect(await fixture.post(again)).toBe(200);
    await sees(fixture.second, "Answer to: only once");
    await fixture.daemon.kill9();
    await fixture.start();
    await eventually(
      () => fixture.daemon.output().match(/the platform knows this channel/g)?.length ?? 0,
      (known) => known === 2,
    );
    expect(await fixture.post(genuine)).toBe(401);
    await fixture.post(delivery("the next"));
    await sees(fixture.second, "Answer to: the next");
    expect(textsOf(fixture.second).filter((text) => text === "Answer to: only once")).toHaveLength(1);
  });

  test("whatever a stranger posts is refused, and the daemon lives", async () => {
    const random = seededRandom(20_261_123);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
    const bodies = [
      () => bytes(Math.floor(random() * 300)),
      () => Buffer.from(`{"encrypt":"${bytes(48).toString("base64")}"}`),
      () => Buffer.from('{"encrypt":' + "[".repeat(1_000)),
      () => Buffer.from(JSON.stringify({ type: "url_verification", challenge: "x", token: TOKEN })),
      () => workchatSealed(bytes(32), "another key"),
    ];
    const statuses = new Set<number>();
    for (let round = 0; round < 300; round += 1) {
      const body = pick(bodies)();
      const headers = {
        "x-lark-request-timestamp": pick(["", "0", String(Math.floor(Date.now() / 1000)), "99999999999", "1e9"]),
        "x-lark-request-nonce": pick(["", "n", "a b", "x".repeat(200)]),
        "x-lark-signature": pick(["", "0".repeat(64), hash("sha256", body, "hex"), "zz"]),
      };
      statuses.add(await fixture.post({ method: "POST", query: "", headers, body }));
    }
    expect([...statuses]).toEqual([401]);
    expect(await fixture.post(delivery("still there?"))).toBe(200);
    await sees(fixture.second, "Answer to: still there?");
  });

  test("no secret is in the log", async () => {
    const log = (await fixture.svc("logs", "--json")).stdout + fixture.daemon.output();
    for (const secret of [...Object.values(SECRETS), KEY, TOKEN]) expect(log).not.toContain(secret);
    for (const token of [...fixture.first.tokens, ...fixture.second.tokens]) expect(log).not.toContain(token);
  });
});

test(
  "killed at any instant, over lost answers and an outage, it answers every message once",
  { timeout: 300_000 },
  async () => {
    await using fixture = await startFixture();
    const { first } = fixture;
    await first.socket.opened(1);
    const random = seededRandom(7);
    const written: string[] = [];
    let kills = 0;
    for (let round = 0; round < 8; round += 1) {
      for (const from of PEOPLE) {
        const text = `message ${written.length}.`;
        written.push(text);
        first.write({ id: text, from, text, atMs: Date.now() });
      }
      // Dies while some are stored, some are answered, and some are neither.
      const goal = first.sent.length + Math.floor(random() * PEOPLE.length);
      await eventually(
        () => first.sent.length,
        (length) => length >= goal,
      );
      first.mood = round % 3 === 1 ? "loses answers" : round % 3 === 2 ? { refuses: 503 } : "takes";
      await fixture.daemon.kill9();
      kills += 1;
      first.mood = "takes";
      await fixture.start();
      await first.socket.opened(kills + 1);
      // What was acknowledged and lost on the way comes again.
      for (const payload of first.socket.acknowledged.slice(-3)) first.socket.send(payload);
    }
    await eventually(
      () => written.filter((text) => !textsOf(first).includes(`Answer to: ${text}`)).length,
      (missing) => missing === 0,
    );
    const answers = textsOf(first).filter((text) => text.startsWith("Answer to: "));
    expect(answers.toSorted()).toEqual(written.map((text) => `Answer to: ${text}`).toSorted());
    expect(first.sent).toHaveLength(written.length);
    expect(first.socket.faults).toEqual([]);
  },
);
