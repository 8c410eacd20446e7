// Against a real Synapse, with an independent client in an encrypted room: every message is answered once, over kills and restarts.
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CryptoEvent, VerificationPhase, type VerificationRequest } from "matrix-js-sdk/lib/crypto-api/index.js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connect, never } from "./fixture.ts";
import { compared, scanned, startPhone, symbolsOf, until } from "./phone.ts";
import {
  demandSynapse,
  eventually,
  missingSynapse,
  type Heard,
  type Person,
  startSynapse,
  type Synapse,
} from "./real/synapse.ts";

const ALL = process.env["SVC_CASES"] === "all";
const MESSAGES = ALL ? 200 : 30;
const KILLS = ALL ? 10 : 3;

let synapse: Synapse;
let ada: Person;
beforeAll(async () => {
  if (missingSynapse()) return;
  synapse = await startSynapse();
  ada = await synapse.person("ada");
});
afterAll(() => synapse?.[Symbol.asyncDispose]());
beforeEach((context) => demandSynapse(context));

/** Answers each question with the last line of it. */
const model = () =>
  fakeModelServer({
    script({ body }) {
      const last = JSON.stringify((body["messages"] as unknown[]).at(-1));
      return { text: `**answer** to ${/question \d+/.exec(last)?.[0] ?? "something else"}` };
    },
  });

async function account(name: string, model: { readonly url: string }, more = "") {
  const home = temporaryHome();
  const { userId, password } = await synapse.register(name);
  writeFileSync(
    join(home.path, "config.toml"),
    `[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model.url}"
api_key = "key-of-the-model"

[channels_config.federated]
homeserver = "${synapse.url}"
user_id = "${userId}"
password = "${password}"
allowed_users = ["${ada.userId}"]
stream_mode = "off"
${more}
`,
    { mode: 0o600 },
  );
  return { home, userId };
}

/** No profile but the larger ones has the channel. */
const binary = (): string => process.env["SVC_BINARY"] ?? fullestBinaryPath();
const start = (home: string): Promise<RunningBinary> => startBinary({ home, binary: binary() });
const command = (home: string, ...args: readonly string[]) => runBinary(args, { home, binary: binary() });

/** What is on the screen of a terminal once the command has ended. */
const atTerminal = (home: string, words: string): Promise<string> =>
  new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], SVC_HOME: home, TERM: "xterm" };
    execFile("script", ["-qefc", `${binary()} ${words}`, "/dev/null"], { env }, (_error, screen) => resolve(screen));
  });

/** Faster without a daemon, which waits for a while before it looks again. */
async function logIn(home: string): Promise<void> {
  const done = await command(home, "channels", "setup", "federated");
  if (done.code !== 0) throw new Error(`setup: ${done.stdout}${done.stderr}`);
}

/** Of the account, as ada's app has learnt them. */
const devicesOf = async (userId: string): Promise<readonly unknown[]> =>
  (await ada.does("devices", { user: userId }))["devices"] as readonly unknown[];

/** An app that sends before it has asked whose devices are in the room sends its key to none of them. */
const isKnownToAda = (userId: string): Promise<void> => eventually(async () => (await devicesOf(userId)).length > 0);

/** Curve25519, base64 without padding. */
const IDENTITY_KEY = expect.stringMatching(/^[A-Za-z0-9+/]{43}$/) as unknown;

const from =
  (userId: string, room: string) =>
  (heard: Heard): boolean =>
    heard.event === "message" && heard["sender"] === userId && heard["room"] === room;

test("answers in an encrypted room, over kills of the daemon and a restart of the homeserver, each message once", async () => {
  await using fake = await model();
  const { home, userId } = await account("svc", fake);
  using _ = home;
  let daemon = await start(home.path);
  try {
    await logIn(daemon.home);
    const room = String((await ada.does("create", { invite: [userId], encrypted: true }))["room"]);
    await eventually(async () => ((await ada.does("members", { room }))["members"] as string[]).includes(userId));
    await eventually(() => daemon.output().includes("joined a room"));
    await isKnownToAda(userId);
    const answers = () => ada.heard.filter(from(userId, room));
    const killAfter = new Set(
      Array.from({ length: KILLS }, (_, kill) => Math.floor(((kill + 0.5) * MESSAGES) / KILLS)),
    );
    for (let number = 1; number <= MESSAGES; number += 1) {
      await ada.does("send", { room, text: `question ${number}` });
      if (number === 1) await eventually(() => answers().length === 1);
      if (number === Math.floor(MESSAGES / 2)) await synapse.restart();
      if (!killAfter.has(number)) continue;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
      await daemon.kill9();
      daemon = await start(home.path);
    }
    // Answers keep their order: what is answered twice has come before the last one.
    const last = `question ${MESSAGES + 1}`;
    await ada.does("send", { room, text: last });
    await eventually(() => answers().some(({ body }) => String(body).endsWith(last)), 120_000);
    const bodies = answers().map(({ body }) => String(body));
    const expected = Array.from({ length: MESSAGES + 1 }, (_, at) => `**answer** to question ${at + 1}`);
    expect(bodies.toSorted()).toEqual(expected.toSorted());
    expect(answers().every(({ encrypted }) => encrypted === true)).toBe(true);
    expect(ada.heard.filter(({ event }) => event === "undecryptable")).toEqual([]);
    // One device, from the first answer to the last, and nothing that it could not read.
    expect([...new Set(answers().map((answer) => answer["sender_key"]))]).toEqual([IDENTITY_KEY]);
    expect(await devicesOf(userId)).toHaveLength(1);
    const list = await command(home.path, "inbox", "list", "--box", "in", "--limit", "200", "--json");
    const { messages } = JSON.parse(list.stdout) as { messages: { state: string }[] };
    expect(new Set(messages.map(({ state }) => state))).toEqual(new Set(["done"]));
    console.log(
      `${MESSAGES + 1} messages, ${KILLS} kills, 1 restart of Synapse: ${bodies.length} answers, ` +
        `${new Set(bodies).size} different ones, 0 undecryptable, 1 device`,
    );
  } catch (error) {
    console.error(daemon.output().slice(-4_000));
    throw error;
  } finally {
    await daemon.close();
  }
});

describe("rooms of one daemon", () => {
  const stack = new AsyncDisposableStack();
  let daemon: RunningBinary;
  let userId: string;
  beforeAll(async () => {
    if (missingSynapse()) return;
    const fake = stack.use(
      await fakeModelServer({
        script({ body }) {
          const said = JSON.stringify((body["messages"] as unknown[]).at(-1));
          return { text: /a\.png/.test(said) ? "a picture came" : `answer to ${/question \d|clear/.exec(said)?.[0]}` };
        },
      }),
    );
    const made = await account("svcrooms", fake);
    stack.use(made.home);
    userId = made.userId;
    await logIn(made.home.path);
    daemon = stack.use(await start(made.home.path));
  });
  afterAll(() => stack.disposeAsync());

  test("a verification needs a terminal", async () => {
    const asked = await command(daemon.home, "channels", "verify", "federated");
    expect([asked.code, asked.stderr]).toEqual([64, expect.stringContaining("needs a terminal")]);
  });

  test("a room may be encrypted later, and an encrypted file is read", async () => {
    const room = String((await ada.does("create", { invite: [userId], encrypted: false }))["room"]);
    await eventually(() => daemon.output().includes("joined a room"));
    const answers = () => ada.heard.filter(from(userId, room));
    await ada.does("send", { room, text: "in clear" });
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ encrypted: false, body: "answer to clear" });
    await ada.does("encrypt", { room });
    await eventually(async () => (await ada.does("encrypted", { room }))["encrypted"] === true);
    await isKnownToAda(userId);
    await ada.does("file", { room, hex: "89504e470d0a1a0a" });
    await eventually(() => answers().length === 2);
    expect(answers()[1]).toMatchObject({ encrypted: true, body: "a picture came" });
  });

  test("answers in a room that was encrypted, and spoken in, before it came", async () => {
    const room = String((await ada.does("create", { invite: [], encrypted: true }))["room"]);
    for (const number of [1, 2]) await ada.does("send", { room, text: `question ${number}` });
    await ada.does("invite", { room, user: userId });
    await eventually(async () => ((await ada.does("members", { room }))["members"] as string[]).includes(userId));
    await eventually(() => daemon.output().includes(room));
    await isKnownToAda(userId);
    await ada.does("send", { room, text: "question 3" });
    const answers = () => ada.heard.filter(from(userId, room));
    await eventually(() => answers().length > 0);
    expect(answers()).toMatchObject([{ body: "answer to question 3", encrypted: true }]);
    const list = await command(daemon.home, "inbox", "list", "--box", "in", "--json");
    const { messages } = JSON.parse(list.stdout) as { messages: { text: string; state: string }[] };
    const asked = messages.filter(({ text }) => text.startsWith("question"));
    expect(asked).toMatchObject([{ state: "done", text: "question 3" }]);
  });
});

test.each(["its own", "a new"])(
  "goes on after a restore of a backup into %s home, as the same device",
  async (where) => {
    await using fake = await model();
    const { home, userId } = await account(`svcrestored${where.length}`, fake);
    using _ = home;
    using other = temporaryHome();
    await logIn(home.path);
    let daemon = await start(home.path);
    try {
      const room = String((await ada.does("create", { invite: [userId], encrypted: true }))["room"]);
      await eventually(() => daemon.output().includes("joined a room"));
      const answers = () => ada.heard.filter(from(userId, room));
      const bodies = (): string[] => answers().map(({ body }) => String(body));
      const ask = async (first: number, last: number): Promise<void> => {
        for (let number = first; number <= last; number += 1)
          await ada.does("send", { room, text: `question ${number}` });
        await eventually(() => bodies().some((body) => body.endsWith(`question ${last}`)));
      };
      await eventually(async () => ((await ada.does("members", { room }))["members"] as string[]).includes(userId));
      await isKnownToAda(userId);
      await ask(1, 5);
      const file = join(home.path, "workspace", "backup.tar.gz");
      const backup = await command(home.path, "backup", file);
      if (backup.code !== 0) throw new Error(backup.stdout + backup.stderr);
      await ask(6, 10);
      await daemon.stop();
      const target = where === "a new" ? other.path : home.path;
      const restored = await command(target, "restore", file, "--yes");
      if (restored.code !== 0) throw new Error(restored.stdout + restored.stderr);
      daemon = await start(target);
      await ask(11, 15);
      await daemon.stop();
      daemon = await start(target);
      await ask(16, 18);
      const expected = Array.from({ length: 18 }, (_, at) => `**answer** to question ${at + 1}`);
      // What was answered since the backup is known by its answers, and not answered again.
      expect(bodies().toSorted()).toEqual(expected.toSorted());
      expect(ada.heard.filter(({ event, room: where }) => event === "undecryptable" && where === room)).toEqual([]);
      expect([...new Set(answers().map((answer) => answer["sender_key"]))]).toEqual([IDENTITY_KEY]);
      expect(await devicesOf(userId)).toHaveLength(1);
    } catch (error) {
      console.error(daemon.output().slice(-6_000));
      throw error;
    } finally {
      await daemon.close();
    }
  },
  300_000,
);

test("a second home with the same device is stopped, says why, and answers after a new login", async () => {
  await using fake = await model();
  const { home, userId } = await account("svctwice", fake);
  using _ = home;
  using other = temporaryHome();
  // A start encrypts its secrets.
  const config = readFileSync(join(home.path, "config.toml"), "utf8");
  await logIn(home.path);
  const first = await start(home.path);
  await eventually(() => first.output().includes("made cross-signing keys for the account"));
  const device = /device (\w+)/.exec((await command(home.path, "channels", "test", "federated")).stdout)?.[1] ?? "";
  await first.close();
  writeFileSync(join(other.path, "config.toml"), `${config}device_id = "${device}"\n`, { mode: 0o600 });
  await logIn(other.path);
  await using daemon = await start(other.path);
  await eventually(() => daemon.output().includes("The feature gave up"));
  const asked = await atTerminal(other.path, "channels verify federated");
  expect(asked).toContain("The homeserver has other encryption keys of this device.");
  expect(asked).toContain("svc channels setup federated");
  const listed = await command(other.path, "channels", "list");
  expect(listed.stdout).toContain("other encryption keys");
  const repaired = await command(other.path, "channels", "setup", "federated");
  expect(repaired.stdout).toMatch(/Logged in as the new device \w+/);
  expect(repaired.stdout).not.toContain(device);
  expect((await command(other.path, "reload")).code).toBe(0);
  const room = String((await ada.does("create", { invite: [userId], encrypted: true }))["room"]);
  await eventually(async () => ((await ada.does("members", { room }))["members"] as string[]).includes(userId));
  await eventually(() => daemon.output().includes("joined a room"));
  // Both devices: the one that is lost can't be told from one that is switched off.
  await eventually(async () => (await devicesOf(userId)).length === 2);
  await ada.does("send", { room, text: "question 1" });
  await eventually(() => ada.heard.some(from(userId, room)));
  expect(ada.heard.find(from(userId, room))).toMatchObject({ body: "**answer** to question 1", encrypted: true });
});

async function loggedIn(
  { userId, password }: { readonly userId: string; readonly password: string },
  deviceId: string,
) {
  const identifier = { type: "m.id.user", user: userId };
  const body = JSON.stringify({ type: "m.login.password", identifier, password, device_id: deviceId });
  const answer = await fetch(`${synapse.url}/_matrix/client/v3/login`, { method: "POST", body });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return { userId, deviceId, token };
}

test("is verified by emoji from another device of the account", async () => {
  const account = await synapse.register("svcverified");
  const { userId } = account;
  const logInAs = (deviceId: string) => loggedIn(account, deviceId);
  const section = { homeserver: synapse.url, access_token: (await logInAs("SVC")).token, user_id: userId };
  await using svc = await connect(section);
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const client = await startPhone(synapse.url, await logInAs("PHONE"));
  try {
    const asked = new Promise<VerificationRequest>((resolve) =>
      client.on(CryptoEvent.VerificationRequestReceived, resolve),
    );
    // It drops what an unknown device asks for.
    await client.getCrypto()!.getUserDeviceInfo([userId], true);
    await svc.channel.verification!.begin(never);
    const request = await asked;
    await request.accept();
    await until(svc, "scan");
    await svc.channel.verification!.compare(never);
    const showing = compared(request);
    const state = await until(svc, "compare");
    const { sas, confirm } = await showing;
    expect(symbolsOf(state)).toEqual(sas.emoji!.map(([symbol]) => symbol));
    await confirm();
    await svc.channel.verification!.answer(true, never);
    expect(await until(svc, "done")).toMatchObject({ peer: `${userId}, device PHONE` });
    await eventually(async () => (await client.getCrypto()!.getDeviceVerificationStatus(userId, "SVC"))!.localVerified);
  } finally {
    client.stopClient();
  }
});

/** The channel in a room with ada, who knows its device. */
async function beside(name: string) {
  const bot = await loggedIn(await synapse.register(name), "SVC");
  const section = {
    homeserver: synapse.url,
    access_token: bot.token,
    user_id: bot.userId,
    allowed_users: [ada.userId],
  };
  const svc = await connect(section);
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const room = String((await ada.does("create", { invite: [bot.userId], encrypted: true }))["room"]);
  await eventually(async () => {
    const devices = (await ada.does("devices", { user: bot.userId }))["devices"] as string[];
    return devices.includes("SVC");
  });
  return { svc, room, bot };
}

const symbolsOfAda = (transaction: unknown): unknown =>
  ada.heard.find(({ event, transaction: which }) => event === "symbols" && which === transaction)?.["symbols"];

test("is verified by emoji from matrix-nio, which compares them without a request before", async () => {
  const { svc, bot, room } = await beside("svcnio");
  await using _ = svc;
  const at = { user: bot.userId, device: "SVC" };
  // Nothing was said so far: the channel does not know the device that begins.
  const { transaction } = await ada.does("verify", at);
  await eventually(async () => (await svc.channel.verification!.requests(never)).length === 1);
  expect(await svc.channel.verification!.requests(never)).toEqual([`${ada.userId}, device ${ada.deviceId}`]);
  expect(symbolsOfAda(transaction)).toBeUndefined();
  await svc.channel.verification!.begin(never);
  expect(await svc.channel.verification!.requests(never)).toEqual([]);
  const state = await until(svc, "compare");
  await eventually(() => symbolsOfAda(transaction) !== undefined);
  expect(symbolsOf(state)).toEqual(symbolsOfAda(transaction));
  expect(symbolsOf(state)).toHaveLength(7);
  await ada.does("match", { transaction });
  await svc.channel.verification!.answer(true, never);
  expect(await until(svc, "done")).toMatchObject({ peer: `${ada.userId}, device ${ada.deviceId}` });
  await eventually(async () => (await ada.does("verified", at))["verified"] === true);
  // Encrypted both ways, with the device that is verified now.
  await ada.does("send", { room, text: "Can you hear me?" });
  await eventually(() => svc.received.length === 1);
  expect(svc.received[0]).toMatchObject({ text: "Can you hear me?", sender: ada.userId });
  await svc.channel.send({ conversation: svc.received[0]!.conversation, text: "Yes", deliveryId: "d" }, never);
  await eventually(() => ada.heard.some(from(bot.userId, room)));
  expect(ada.heard.find(from(bot.userId, room))).toMatchObject({ body: "Yes", encrypted: true });
});

test.each(["here", "there"])(
  "symbols that differ %s end the comparison, and verify nothing",
  async (where) => {
    const { svc, bot } = await beside(`svcdiffers${where}`);
    await using _ = svc;
    const at = { user: bot.userId, device: "SVC" };
    const { transaction } = await ada.does("verify", at);
    await eventually(async () => (await svc.channel.verification!.requests(never)).length === 1);
    await svc.channel.verification!.begin(never);
    await until(svc, "compare");
    await eventually(() => symbolsOfAda(transaction) !== undefined);
    if (where === "there") await ada.does("differ", { transaction });
    else await svc.channel.verification!.answer(false, never);
    expect(await until(svc, "cancelled")).toMatchObject({ reason: "m.mismatched_sas" });
    await eventually(async () => (await ada.does("verified", at))["verified"] === false);
    // The other side is told.
    const isTold = ({ event, transaction: which, code }: Heard): boolean =>
      event === "cancelled" && which === transaction && code === "m.mismatched_sas";
    await eventually(() => where === "there" || ada.heard.some(isTold));
  },
  120_000,
);

test("is verified in an encrypted room by a person who scans its QR code", async () => {
  const bot = await loggedIn(await synapse.register("svcscanned"), "SVC");
  const person = await synapse.register("scanner");
  const section = {
    homeserver: synapse.url,
    access_token: bot.token,
    user_id: bot.userId,
    allowed_users: [person.userId],
  };
  await using svc = await connect(section);
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const client = await startPhone(synapse.url, await loggedIn(person, "PHONE"));
  try {
    const crypto = client.getCrypto()!;
    await crypto.bootstrapCrossSigning({ authUploadDeviceSigningKeys: async (make) => void (await make(null)) });
    const content = { algorithm: "m.megolm.v1.aes-sha2" };
    const { room_id: room } = await client.createRoom({
      invite: [bot.userId],
      is_direct: true,
      initial_state: [{ type: "m.room.encryption", state_key: "", content }],
    });
    await eventually(() => client.getRoom(room)?.getMember(bot.userId)?.membership === "join");
    await crypto.userHasCrossSigningKeys(bot.userId, true);
    const request = await crypto.requestVerificationDM(bot.userId, room);
    await eventually(async () => (await svc.channel.verification!.requests(never)).length === 1);
    await svc.channel.verification!.begin(never);
    const shown = await until(svc, "scan");
    await eventually(() => request.phase === VerificationPhase.Ready);
    const verifier = await request.scanQRCode(await scanned(shown));
    const verified = verifier.verify();
    await until(svc, "scanned");
    await svc.channel.verification!.answer(true, never);
    await verified;
    expect(await until(svc, "done")).toMatchObject({ peer: `${person.userId}, device PHONE` });
    await eventually(async () => (await crypto.getUserVerificationStatus(bot.userId)).isCrossSigningVerified());
    expect(svc.received).toEqual([]);
  } finally {
    client.stopClient();
  }
});
