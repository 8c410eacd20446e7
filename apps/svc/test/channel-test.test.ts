// "Send me a test" of the page: somebody sets up a channel, presses the button, and must be told what to do when nothing comes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeMail, startFakeMail } from "@svc/testkit/platforms/email/fake/server";
import { startTelegram, TELEGRAM_TOKEN, type TelegramPlatform } from "@svc/testkit/platforms/telegram/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, expect, test } from "vitest";

const home = temporaryHome();
let telegram: TelegramPlatform;
let mail: FakeMail;
let daemon: RunningBinary;
let token: string;

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.chats.note({ id: 42, type: "private", first_name: "Ada" }, 1);
  mail = await startFakeMail({ address: "agent@example.com", password: "password-of-the-mailbox" });
  mail.unknown.add("nobody@example.org");
  configure();
  daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
  token = await daemon.pair();
});
afterAll(async () => {
  await daemon?.close();
  await Promise.all([telegram?.close(), mail?.close()]);
  home.remove();
});

interface Changed {
  readonly botToken?: string;
  readonly apiUrl?: string;
  readonly password?: string;
}

function configure({ botToken = TELEGRAM_TOKEN, apiUrl = telegram.apiUrl, password }: Changed = {}): void {
  const config = `
[channels_config.telegram]
bot_token = "${botToken}"
allowed_users = ["*"]
api_url = "${apiUrl}"

[channels_config.email]
address = "agent@example.com"
password = "${password ?? "password-of-the-mailbox"}"
imap_host = "127.0.0.1"
imap_port = ${mail.imapPort}
imap_security = "none"
smtp_host = "127.0.0.1"
smtp_port = ${mail.smtpPort}
smtp_security = "none"
authserv_id = "mx.example.com"
allowed_senders = ["@example.org"]
`;
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
}

/** By a start: a reload would refuse a config whose channel does not start. */
async function restarted(changed: Changed): Promise<void> {
  configure(changed);
  await daemon.stop();
  daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
}

interface Report {
  readonly state?: string;
  readonly error: string | null;
  readonly hint?: string | null;
  readonly code?: string;
}

async function sendTest(channel: string, to: string): Promise<Report> {
  const path = "/api/settings/channel-test";
  return (await daemon.request(path, { method: "POST", token, body: { channel, to } })).json() as Promise<Report>;
}

const becomes = (channel: string, state: string) =>
  expect
    .poll(async () => {
      const response = await daemon.request("/api/channels", { token });
      const { channels } = (await response.json()) as { channels: { id: string; state: string }[] };
      return channels.find(({ id }) => id === channel)?.state;
    })
    .toBe(state);

test("a test that comes says so", async () => {
  expect(await sendTest("telegram", "42")).toEqual({ state: "sent", error: null, hint: null });
  expect(telegram.sent.map(({ chatId, text }) => [chatId, text])).toEqual([
    [42, "A test from svc: this channel works."],
  ]);
  expect(await sendTest("email", "ada@example.org")).toEqual({ state: "sent", error: null, hint: null });
});

test.each([
  ["telegram", "43", /knows no such chat/, /write to the bot first/],
  ["telegram", "Ada", /no chat of the platform/, /the number of a chat/],
  ["email", "nobody@example.org", /550/, /recipient's address/],
  ["email", "Ada", /one mail address/, /who it was sent to/],
])("%s to %s, which the platform refuses, says why and what to do", async (channel, to, error, hint) => {
  expect(await sendTest(channel, to)).toEqual({
    state: "dead",
    error: expect.stringMatching(error),
    hint: expect.stringMatching(hint),
  });
});

test("a platform that is ill says that the message waits", async () => {
  telegram.failNext("sendMessage", [{ code: 502, description: "Bad Gateway" }]);
  expect(await sendTest("telegram", "42")).toEqual({
    state: "waiting",
    error: expect.stringContaining("502"),
    hint: expect.stringContaining("tried again"),
  });
});

test("a wrong token or password says which setting it is, and leaves no message to come later", async () => {
  await restarted({ botToken: "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDzzz", password: "wrong" });
  await Promise.all([becomes("telegram", "failed"), becomes("email", "failed")]);
  expect(await sendTest("telegram", "42")).toMatchObject({
    code: "CHANNEL_DOWN",
    error: expect.stringMatching(/bot token.*@BotFather/),
  });
  expect(await sendTest("email", "ada@example.org")).toMatchObject({
    code: "CHANNEL_DOWN",
    error: expect.stringMatching(/username and password/),
  });
  const inbox = await daemon.request("/api/inbox?state=waiting", { token });
  const { messages } = (await inbox.json()) as { messages: { channel: string; last_attempt_at?: string }[] };
  expect(messages.filter(({ channel }) => channel === "email")).toEqual([]);
});

test("a platform that can't be reached says so", async () => {
  await restarted({ apiUrl: "http://127.0.0.1:9" });
  // To 42 a message waits already, which goes first.
  for (const to of ["44", "42"]) {
    expect(await sendTest("telegram", to)).toMatchObject({
      state: "waiting",
      error: expect.stringContaining("could not be reached"),
      hint: expect.stringContaining("network"),
    });
  }
});

test("a channel that is not set up says so", async () => {
  expect(await sendTest("pager", "42")).toMatchObject({
    code: "CHANNEL_UNKNOWN",
    error: expect.stringContaining('no channel "pager" in the config'),
  });
});
