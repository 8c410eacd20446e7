// Which mail is read: all that came since, each once, in order, nothing older; and where reading goes on after a failure.
import { type Inbound, type Json, SvcError } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { afterEach, expect, test } from "vitest";
import {
  closePlatforms,
  connected,
  never,
  NEWEST,
  NOW_MS,
  open,
  OWN,
  REFRESH,
  startPlatform,
  TOPIC,
  urlsOf,
} from "./open-channel.ts";

afterEach(closePlatforms);

const from = "Ada <ada@example.org>";
const DAY_MS = 86_400_000;

test("the first reading begins at the watch: what was there before is never answered", async () => {
  const platform = await startPlatform();
  platform.arrive({ from, text: "before" });
  const { channel, context } = open(urlsOf(platform));
  await channel.onNotice(NEWEST, never);
  const { pushed } = platform.arrive({ from, text: "after" });
  await channel.onNotice({ emailAddress: OWN, historyId: pushed.historyId }, never);
  expect(context.received.map(({ text }) => text)).toEqual(["after"]);
  expect(platform.watches).toEqual([{ topicName: TOPIC, labelIds: ["INBOX"], labelFilterBehavior: "INCLUDE" }]);
});

test("a mail is a message of a conversation of its own person and thread", async () => {
  const { platform, channel, context } = await connected();
  const headers = { "Message-ID": "<m1@example.org>", References: "<root@example.org> <m0@example.org>" };
  const { mail } = platform.arrive({
    from: '"Ada, L." <Ada@Example.org>',
    subject: "Hi  there",
    text: "Hello\r\n",
    headers,
  });
  await channel.onNotice(NEWEST, never);
  expect(context.received).toEqual([
    {
      id: mail.id,
      conversation: { channel: "mailpush", id: "ada@example.org", thread: mail.threadId },
      sender: "ada@example.org",
      senderName: "Ada, L.",
      text: "Subject: Hi there\n\nHello",
      sentAtMs: NOW_MS,
      replyData: {
        messageId: "<m1@example.org>",
        references: ["<root@example.org>", "<m0@example.org>"],
        subject: "Hi there",
        threadId: mail.threadId,
      },
    },
  ] satisfies Inbound[]);
});

test("page by page, in order, each mail once, whatever else the history tells", async () => {
  const { platform, channel, context } = await connected({}, { pageSize: 3 });
  const mails = Array.from({ length: 11 }, (_, index) => platform.arrive({ from, text: `mail ${index}` }).mail);
  platform.remove(mails[4]!.id);
  await channel.onNotice(NEWEST, never);
  await channel.onNotice(NEWEST, never);
  expect(context.received.map(({ text }) => text)).toEqual(
    mails.map((_, index) => `mail ${index}`).filter((text) => text !== "mail 4"),
  );
  expect(
    platform.requests.filter(({ path, query }) => path.endsWith("/history") && query.has("pageToken")),
  ).not.toEqual([]);
});

test("a notification of what was read already asks for nothing", async () => {
  const { platform, channel } = await connected();
  const { pushed } = platform.arrive({ from, text: "x" });
  await channel.onNotice({ emailAddress: OWN, historyId: pushed.historyId }, never);
  const asked = platform.requests.length;
  await channel.onNotice({ emailAddress: OWN, historyId: pushed.historyId }, never);
  for (const notice of [null, [], {}, { historyId: 7 }, { historyId: "x" }] as Json[])
    await channel.onNotice(notice, never);
  expect(platform.requests).toHaveLength(asked);
});

test("the place moves only once the mail is kept, page by page", async () => {
  const kept: string[] = [];
  let full = true;
  const receive = async (messages: readonly Inbound[]) => {
    if (full && kept.length >= 3) throw new SvcError("STORE_FULL");
    return messages.map(({ text }) => (kept.push(text), "kept" as const));
  };
  const { platform, channel } = await connected({}, { pageSize: 3 }, { receive });
  for (let index = 0; index < 8; index += 1) platform.arrive({ from, text: `mail ${index}` });
  await expect(channel.onNotice(NEWEST, never)).rejects.toMatchObject({ code: "STORE_FULL" });
  expect(kept).toEqual(["mail 0", "mail 1", "mail 2"]);
  full = false;
  await channel.onNotice(NEWEST, never);
  expect(kept).toEqual(Array.from({ length: 8 }, (_, index) => `mail ${index}`));
});

test("another process goes on where the last one stopped", async () => {
  const state = memorySecrets();
  const first = await connected({}, {}, { state });
  first.platform.arrive({ from, text: "one" });
  await first.channel.onNotice(NEWEST, never);
  first.platform.arrive({ from, text: "two" });
  const second = open(urlsOf(first.platform), { state });
  await second.channel.onNotice(NEWEST, never);
  expect(second.context.received.map(({ text }) => text)).toEqual(["two"]);
  expect(first.platform.watches).toHaveLength(1);
});

test("many at the same time read the mailbox one after the other", async () => {
  const { platform, channel, context } = await connected();
  for (let index = 0; index < 20; index += 1) platform.arrive({ from, text: `mail ${index}` });
  await Promise.all(Array.from({ length: 10 }, () => channel.onNotice(NEWEST, never)));
  expect(context.received.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, index) => `mail ${index}`));
});

test("after a history that is gone: mail newer than the last one that was read, at most a week old; the rest is counted", async () => {
  const { platform, channel, context } = await connected({}, { pageSize: 2 });
  const at = (days: number, text: string) => platform.arrive({ from, text, atMs: NOW_MS + days * DAY_MS });
  at(0.5, "read");
  await channel.onNotice(NEWEST, never);
  for (const days of [-1, 0.4]) at(days, "older than what was read");
  for (const days of [1, 1.5, 2]) at(days, "too old by now");
  for (const days of [13, 10, 12]) at(days, `day ${days}`);
  platform.forgetHistory();
  at(14, "day 14");
  context.clock.setWallClock(NOW_MS + 15 * DAY_MS);
  await channel.onNotice(NEWEST, never);
  expect(context.received.map(({ text }) => text)).toEqual(["read", "day 10", "day 12", "day 13", "day 14"]);
  const told = context.log.lines.filter(({ level }) => level === "warn");
  expect(told).toMatchObject([{ fields: { found: 4, skipped: 3 } }]);
  // From here on the history is followed again.
  at(15, "day 15");
  await channel.onNotice(NEWEST, never);
  expect(context.received.at(-1)?.text).toBe("day 15");
  expect(context.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
});

test("a history that is gone before any mail was read brings back nothing of before the watch", async () => {
  const platform = await startPlatform();
  platform.arrive({ from, text: "long ago", atMs: NOW_MS - 3 * DAY_MS });
  const { channel, context } = open(urlsOf(platform));
  await channel.onNotice({ emailAddress: OWN, historyId: "1" }, never);
  platform.arrive({ from, text: "new", atMs: NOW_MS + 1000 });
  platform.forgetHistory();
  context.clock.setWallClock(NOW_MS + 5000);
  await channel.onNotice(NEWEST, never);
  expect(context.received.map(({ text }) => text)).toEqual(["new"]);
});

test("label_filter is also about what is fetched; names are looked up, spam and trash are never read", async () => {
  const labels = { Label_7: "Team/Agent" };
  const { platform, channel, context } = await connected({ label_filter: ["Team/Agent", "STARRED"] }, { labels });
  const say = (text: string, labelIds: string[]) => platform.arrive({ from, text, labelIds });
  say("labelled", ["INBOX", "Label_7"]);
  say("in the inbox only", ["INBOX"]);
  say("starred", ["STARRED"]);
  await channel.onNotice(NEWEST, never);
  expect(context.received.map(({ text }) => text)).toEqual(["labelled", "starred"]);
  expect(platform.watches).toMatchObject([{ labelIds: ["Label_7", "STARRED"] }]);

  const all = await connected({ label_filter: [] });
  for (const labelIds of [["INBOX"], [], ["SPAM"], ["TRASH", "INBOX"]])
    all.platform.arrive({ from, text: "x", labelIds });
  await all.channel.onNotice(NEWEST, never);
  expect(all.context.received).toHaveLength(2);
  expect(all.platform.watches).toEqual([{ topicName: TOPIC }]);
});

test("a label that the mailbox does not have is told", async () => {
  const platform = await startPlatform();
  const { channel } = open({ ...urlsOf(platform), label_filter: ["No such label"] });
  await expect(channel.onNotice(NEWEST, never)).rejects.toMatchObject({ code: "CHANNEL_CANNOT" });
});

test("one mail that can't be read does not stand in the way of the others", async () => {
  const { platform, channel, context } = await connected();
  const bad = platform.arrive({ from, text: "bad" }).mail;
  const large = platform.arrive({ from, text: `large ${"x".repeat(9_000_000)}` }).mail;
  platform.arrive({ from, text: "good" });
  platform.mood = ({ path }) => (path.endsWith(bad.id) ? { refuses: 400 } : "takes");
  await channel.onNotice(NEWEST, never);
  expect(context.received.map(({ id, text }) => [id === large.id, text.slice(0, 9)])).toEqual([
    [true, "large xxx"],
    [false, "good"],
  ]);
  expect(context.log.lines).toMatchObject([{ level: "warn", fields: { mail: bad.id } }]);
});

test("a platform that is down is asked again; nothing is lost meanwhile", async () => {
  const { platform, channel, context } = await connected();
  platform.arrive({ from, text: "x" });
  for (const mood of [{ refuses: 503 }, "resets", { rateLimits: 3 }] as const) {
    platform.mood = mood;
    await expect(channel.onNotice(NEWEST, never)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:DELIVERY_FAILED|REMOTE_UNREACHABLE)$/),
    });
  }
  platform.mood = "takes";
  await channel.onNotice(NEWEST, never);
  expect(context.received).toHaveLength(1);
});

test("403 for asking too often is to be tried again, and no matter of credentials", async () => {
  const { context, channel } = await connected();
  const answer = (reason: string) => Buffer.from(JSON.stringify({ error: { code: 403, errors: [{ reason }] } }));
  const asked = (reason: string) =>
    open(
      {},
      {
        state: context.state,
        fetch: async (url) => ({
          status: 403,
          headers: { "retry-after": "9" },
          bytes: answer(reason),
          truncated: false,
          url,
        }),
      },
    ).channel.onNotice(NEWEST, never);
  for (const reason of ["rateLimitExceeded", "userRateLimitExceeded"]) {
    await expect(asked(reason)).rejects.toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: 9000 });
  }
  await expect(asked("insufficientPermissions")).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
  expect(channel.text).toBeDefined();
});

test("a token that ended is renewed once for all who need it", async () => {
  const { platform, channel, context } = await connected(REFRESH);
  for (let index = 0; index < 5; index += 1) platform.arrive({ from, text: `mail ${index}` });
  platform.expireTokens();
  await channel.onNotice(NEWEST, never);
  expect(context.received).toHaveLength(5);
  expect(platform.requests.filter(({ path }) => path === "/token")).toHaveLength(1);
  const [{ headers, body }] = platform.requests.filter(({ path }) => path === "/token") as [
    (typeof platform.requests)[0],
  ];
  expect(headers).not.toHaveProperty("authorization");
  expect(Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()))).toEqual({
    grant_type: "refresh_token",
    ...REFRESH,
  });
});

test("a token is renewed before it ends, and without any of the config's own", async () => {
  const { platform, channel, context } = await connected(
    { ...REFRESH, oauth_token: undefined },
    { expiresInSecs: 600 },
  );
  const exchanges = () => platform.requests.filter(({ path }) => path === "/token").length;
  expect(exchanges()).toBe(1);
  context.clock.setWallClock(NOW_MS + 530_000);
  await channel.onNotice(NEWEST, never);
  expect(exchanges()).toBe(1);
  context.clock.setWallClock(NOW_MS + 541_000);
  await channel.onNotice(NEWEST, never);
  expect(exchanges()).toBe(2);
});

test("credentials that are refused for good are told, without them", async () => {
  const { platform, channel } = await connected(REFRESH);
  platform.revoke();
  const error: unknown = await channel.onNotice(NEWEST, never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "CHANNEL_UNAUTHORIZED", hint: expect.stringContaining("consent") });
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(REFRESH.refresh_token);
  const without = open({ ...urlsOf(platform), oauth_token: undefined });
  await expect(without.channel.onNotice(NEWEST, never)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
});

test("it ends at once when it is called off, also in the queue", async () => {
  const { platform, channel } = await connected();
  platform.mood = "hangs";
  const stop = new AbortController();
  const first = channel.onNotice(NEWEST, stop.signal).catch((error: unknown) => error);
  const second = channel.onNotice(NEWEST, stop.signal).catch((error: unknown) => error);
  await platform.arrived(platform.requests.length);
  stop.abort(new Error("called off"));
  expect([await first, await second]).toEqual([stop.signal.reason, stop.signal.reason]);
});

test("where the platform does not say whose the mailbox is, the push does; the history goes on where a watch is", async () => {
  const { platform, channel, context } = await connected({ allowed_senders: ["*"] });
  platform.mood = ({ path }) => (path.endsWith("/profile") ? { refuses: 404 } : "takes");
  await expect(channel.check(never)).resolves.toMatch(/^a mailbox, watched until/);
  platform.arrive({ from: OWN, text: "my own" });
  platform.arrive({ from, text: "one", atMs: NOW_MS + 1000 });
  platform.forgetHistory();
  context.clock.setWallClock(NOW_MS + 5000);
  await channel.onNotice(NEWEST, never);
  platform.arrive({ from, text: "two" });
  await channel.onNotice(NEWEST, never);
  expect(context.received.map(({ text }) => text)).toEqual(["one", "two"]);
});
