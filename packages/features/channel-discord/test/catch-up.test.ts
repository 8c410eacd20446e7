// What is written while no one is connected: read again from the history, each once, in order, and not for ever.
import { type Inbound, type Kept, SvcError } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { expect, test } from "vitest";
import { fixture, type Fixture, never, NOW_MS, PERSON, soon, STRANGER } from "./fixture.ts";

const DAY_MS = 86_400_000;
const texts = ({ context }: Fixture): string[] => context.received.map(({ text }) => text);

/** Remembers ids over restarts, as the inbox does. */
function inbox() {
  const kept: Inbound[] = [];
  const receive = async (messages: readonly Inbound[]): Promise<Kept[]> =>
    messages.map((message) => {
      if (kept.some(({ id }) => id === message.id)) return "duplicate";
      kept.push(message);
      return "kept";
    });
  return { kept, receive };
}

/** The first process over this disk: it was there once. */
async function began(section: Readonly<Record<string, unknown>> = {}) {
  const { kept, receive } = inbox();
  const disk = { state: memorySecrets(), secrets: memorySecrets(), receive };
  const first = await fixture(section, disk);
  const { platform } = first;
  await first.start();
  platform.write({ from: PERSON, text: "before" });
  await soon(() => kept.length === 1);
  await first.stop();
  const next = () => fixture(section, { ...disk, platform, nowMs: platform.world.nowMs });
  /** Since then. */
  const got = (): string[] => kept.slice(1).map(({ text }) => text);
  return { first, platform, next, kept, got };
}

test("the first start answers nothing that was written before", async () => {
  await using at = await fixture();
  const { platform, room } = at;
  platform.write({ from: PERSON, text: "long ago", atMs: NOW_MS - 1_000 });
  platform.write({ from: PERSON, channelId: room.id, text: `<@${platform.world.bot.id}> long ago` });
  at.context.clock.setWallClock(NOW_MS + 60_000);
  platform.world.nowMs = NOW_MS + 60_000;
  await at.start();
  platform.write({ from: PERSON, text: "now" });
  await at.received(1);
  expect(texts(at)).toEqual(["now"]);
});

test("direct messages, mentions in channels and threads: also where nobody had written before", async () => {
  const { platform, first, next, got, kept } = await began();
  const call = `<@${platform.world.bot.id}>`;
  const thread = platform.addChannel(first.guild, { type: 11, parentId: first.room.id, isJoined: true });
  const minute = 60_000;
  platform.world.nowMs += 5 * minute;
  platform.write({ from: PERSON, text: "direct 1" });
  platform.write({ from: PERSON, channelId: first.room.id, text: `${call} in the room` });
  platform.write({ from: PERSON, channelId: first.room.id, text: "to others" });
  platform.write({ from: STRANGER, channelId: first.room.id, text: `${call} by a stranger` });
  platform.write({ from: PERSON, channelId: thread.id, text: "in the thread" });
  platform.write({ from: PERSON, text: "direct 2" });
  await using at = await next();
  await at.start();
  await soon(() => got().length >= 4);
  platform.write({ from: PERSON, text: "live" });
  await soon(() => got().includes("live"));
  expect(got()).toEqual(["direct 1", "direct 2", "in the thread", "in the room", "live"]);
  expect(kept.find(({ text }) => text === "in the room")).toMatchObject({ group: true });
});

test("more than a page of them, and what came last is there too", async () => {
  const { platform, next, got } = await began();
  platform.world.nowMs += 600_000;
  for (let count = 1; count <= 250; count += 1) platform.write({ from: PERSON, text: `message ${count}` });
  await using at = await next();
  await at.start();
  await soon(() => got().length >= 250);
  expect(got()).toEqual(Array.from({ length: 250 }, (_, index) => `message ${index + 1}`));
});

test("nothing that is older than a week, and not more than is sensible, which the log says", async () => {
  const { platform, next, got } = await began();
  platform.write({ from: PERSON, text: "eight days ago", atMs: NOW_MS + DAY_MS });
  platform.world.nowMs = NOW_MS + 9 * DAY_MS;
  for (let count = 1; count <= 1_100; count += 1) platform.write({ from: PERSON, text: `message ${count}` });
  await using at = await next();
  await at.start();
  await soon(() => got().length >= 1_000);
  await soon(() => at.context.log.lines.some(({ message }) => message.includes("more was written")));
  expect(got()[0]).toBe("message 1");
  expect(got()).toHaveLength(1_000);
});

test("a channel that is gone or closed by now is passed over", async () => {
  const { platform, first, next, got } = await began();
  const other = platform.addChannel(first.guild);
  platform.world.nowMs += 600_000;
  const call = `<@${platform.world.bot.id}>`;
  platform.write({ from: PERSON, channelId: other.id, text: `${call} in the other` });
  platform.write({ from: PERSON, channelId: first.room.id, text: `${call} in the room` });
  other.denied.add("view");
  await using at = await next();
  await at.start();
  await soon(() => got().length >= 1);
  platform.write({ from: PERSON, text: "live" });
  await soon(() => got().includes("live"));
  expect(got()).toEqual(["in the room", "live"]);
});

test("a platform that limits, or is down for a moment, is asked again; one that stays down ends run", async () => {
  const { platform, next, got } = await began();
  platform.world.nowMs += 600_000;
  platform.write({ from: PERSON, text: "missed" });
  platform.limits.refuseNext(/GET channels\/\d+\/messages/, 2);
  await using at = await next();
  await at.start();
  await soon(() => {
    void at.context.clock.advance(100);
    return got().includes("missed");
  });
  await at.stop();

  platform.write({ from: PERSON, text: "missed too" });
  platform.mood = (request: { readonly path: string }) =>
    request.path.endsWith("/messages") ? { refuses: 503 } : "takes";
  await using down = await next();
  await down.start();
  const over = Promise.withResolvers<unknown>();
  let isOver = false;
  void down.ended.then((error) => {
    isOver = true;
    over.resolve(error);
  });
  await soon(() => {
    void down.context.clock.advance(250);
    return isOver;
  });
  expect(await over.promise).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  platform.mood = "takes";
  await using back = await next();
  await back.start();
  await soon(() => got().includes("missed too"));
});

test("who is on the list is looked for although nothing of theirs was ever read; who left is no error", async () => {
  const { platform, next, got } = await began({ allowed_users: [PERSON, STRANGER, "299999999999999999"] });
  platform.world.nowMs += 600_000;
  platform.write({ from: STRANGER, text: "my first word" });
  await using at = await next();
  await at.start();
  await soon(() => got().length >= 1);
  expect(got()).toEqual(["my first word"]);
});

test("how far was read is on disk with each message, so that a kill costs nothing", async () => {
  const state = memorySecrets();
  await using at = await fixture({}, { state });
  await at.start();
  const direct = at.platform.write({ from: PERSON, text: "one" });
  const call = `<@${at.platform.world.bot.id}> two`;
  const onServer = at.platform.write({ from: PERSON, channelId: at.room.id, text: call });
  await at.received(2);
  await soon(() => at.context.received.length === 2);
  expect([await state.get("read direct"), await state.get(`read ${at.guild.id}`)]).toEqual([direct.id, onServer.id]);
});

test("of two channels the later message may be told first: the other is not taken for read", async () => {
  const { platform, first, next, got } = await began();
  const other = platform.addChannel(first.guild);
  platform.world.nowMs += 600_000;
  const write = (channelId: string, text: string) =>
    platform.write({ from: PERSON, channelId, text: `<@${platform.world.bot.id}> ${text}` });
  await using at = await next();
  await at.start();
  await soon(() => platform.gateway.connections === 1);
  const { tell } = platform.world;
  platform.world.tell = () => undefined;
  write(other.id, "earlier");
  platform.world.tell = tell;
  write(first.room.id, "later");
  await soon(() => got().length === 1);
  await at.stop();
  await using after = await next();
  await after.start();
  await soon(() => got().length === 2);
  expect(got()).toEqual(["later", "earlier"]);
});

test("an id of the far future moves nothing", async () => {
  const { platform, next, got } = await began();
  platform.world.nowMs += 600_000;
  await using at = await next();
  await at.start();
  const message = { ...platform.write({ from: PERSON, text: "now" }) };
  await soon(() => got().length === 1);
  const author = { id: PERSON, username: "ada" };
  const data = { id: "18446744073709551615", channel_id: message.channelId, author, content: "the future", type: 0 };
  platform.world.tell({ type: "MESSAGE_CREATE", intent: 0, data });
  await soon(() => got().length === 2);
  await at.stop();
  platform.world.nowMs += 600_000;
  platform.write({ from: PERSON, text: "missed" });
  await using after = await next();
  await after.start();
  await soon(() => got().length === 3);
  expect(got()).toEqual(["now", "the future", "missed"]);
});

test("with * only those are known who wrote", async () => {
  const { platform, next, got } = await began({ allowed_users: ["*"] });
  platform.world.nowMs += 600_000;
  platform.write({ from: PERSON, text: "known" });
  platform.write({ from: STRANGER, text: "unknown" });
  await using at = await next();
  await at.start();
  await soon(() => got().length >= 1);
  platform.write({ from: STRANGER, text: "live" });
  await soon(() => got().length >= 2);
  expect(got()).toEqual(["known", "live"]);
});

test("a server that it joins is read from then on", async () => {
  const { platform, next, got } = await began({ mention_only: false });
  await using at = await next();
  await at.start();
  const guild = platform.addGuild("Another");
  const room = platform.addChannel(guild);
  platform.write({ from: PERSON, channelId: room.id, text: "hello there" });
  await soon(() => got().length >= 1);
  expect(got()).toEqual(["hello there"]);
});

test("retries a message that could not be stored before later ones, and does not move on meanwhile", async () => {
  let isFull = true;
  const { kept, receive: keep } = inbox();
  const receive = async (messages: readonly Inbound[]) => {
    if (isFull) throw new SvcError("STORE_FULL");
    return keep(messages);
  };
  await using at = await fixture({}, { receive });
  await at.start();
  for (const text of ["one", "two"]) at.platform.write({ from: PERSON, text });
  await soon(() => at.context.log.lines.some(({ message }) => message.includes("could not be stored")));
  isFull = false;
  await soon(() => {
    void at.context.clock.advance(100);
    return kept.length === 2;
  });
  expect(kept.map(({ text }) => text)).toEqual(["one", "two"]);
});

test("a backlog that grows without end ends run instead of the memory", async () => {
  await using at = await fixture({}, { receive: () => new Promise(() => undefined) });
  await at.start();
  for (let count = 0; count < 5_100; count += 1) at.platform.write({ from: PERSON, text: "x" });
  expect(await at.ended).toMatchObject({ code: "BUSY" });
  expect(await at.channel.check(never)).toContain("helper");
});
