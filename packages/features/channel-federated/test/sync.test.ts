// What comes in: gaps, the first sync, rooms, people, invitations, mentions, threads, edits, redactions, reactions.
import { BOT, type MatrixPlatform, PERSON, startMatrix, STRANGER } from "@svc/testkit/platforms/matrix/server";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect, type Connected, eventually, never, sectionFor } from "./fixture.ts";
import { memoryStore } from "./memory-store.ts";

let platform: MatrixPlatform;
beforeEach(async () => {
  platform = await startMatrix();
});
afterEach(() => platform.close());

async function connected(more: Readonly<Record<string, unknown>> = {}, given = {}): Promise<Connected> {
  const svc = await connect(sectionFor(platform, more), given);
  await eventually(async () => svc.failure() !== undefined || (await svc.context.state.get("sync")) !== undefined);
  expect(svc.failure()).toBeUndefined();
  return svc;
}

const textsOf = ({ received }: Connected): string[] => received.map(({ text }) => text);
const ask = (text: string, content?: Record<string, unknown>, roomId?: string): string =>
  platform.write({ from: PERSON, text, ...(content && { content }), ...(roomId !== undefined && { roomId }) });
const message = (body: string, more: Record<string, unknown> = {}) => ({ msgtype: "m.text", body, ...more });

/** A third person makes a room one of several people. */
const group = (): string => platform.world.addRoom([PERSON, BOT, "@bob:hs.test"]);

test("answers nothing that was written before the channel was set up", async () => {
  ask("long ago");
  await using svc = await connected();
  ask("now");
  await eventually(() => svc.received.length > 0);
  expect(textsOf(svc)).toEqual(["now"]);
});

test("fetches what the homeserver left out of a sync, in its order", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  }
  const texts = Array.from({ length: 333 }, (_, number) => `message ${number}`);
  for (const text of texts) ask(text);
  await using svc = await connect(sectionFor(platform), kept, store);
  await eventually(() => svc.received.length >= texts.length);
  expect(textsOf(svc)).toEqual(texts);
});

test("of a gap that is too large the newest messages are fetched, and the log says so", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  }
  const texts = Array.from({ length: 5_200 }, (_, number) => `message ${number}`);
  for (const text of texts) ask(text);
  await using svc = await connect(sectionFor(platform), kept, store);
  await eventually(() => svc.received.length > 0);
  // 50 pages of 100, and the 50 of the sync.
  expect(textsOf(svc)).toEqual(texts.slice(-5_050));
  expect(svc.context.log.text()).toContain("the oldest are not answered");
});

test("after a gap the members of the room are asked for again: one may have left in it", async () => {
  await using svc = await connected();
  ask("one");
  await eventually(() => svc.received.length === 1);
  const asked = (): number => platform.requests.filter(({ path }) => path.endsWith("/members")).length;
  expect(asked()).toBe(1);
  ask("two");
  await eventually(() => svc.received.length === 2);
  expect(asked()).toBe(1);
  for (let number = 0; number < 60; number += 1) ask(`message ${number}`);
  await eventually(() => svc.received.length === 62);
  expect(asked()).toBe(2);
});

test("a position that the homeserver has forgotten is begun anew, without what is older", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const atMs = Date.now() - 60_000;
  await kept.state.set("sync", JSON.stringify({ userId: BOT, since: "forgotten", atMs }));
  platform.write({ from: PERSON, text: "before", atMs: atMs - 1 });
  platform.write({ from: PERSON, text: "meanwhile", atMs: atMs + 1 });
  await using svc = await connect(sectionFor(platform), kept);
  await eventually(() => svc.received.length > 0);
  expect(textsOf(svc)).toEqual(["meanwhile"]);
});

test("hears only allowed people in allowed rooms, by id or alias, and neither notices nor itself", async () => {
  const room = platform.world.addRoom([PERSON, BOT]);
  const other = platform.world.addRoom([PERSON, BOT]);
  const strangers = platform.world.addRoom([STRANGER, BOT]);
  platform.world.aliases.set("#office:hs.test", room);
  await using svc = await connected({ allowed_rooms: ["#office:hs.test", strangers] });
  ask("elsewhere", undefined, other);
  platform.write({ from: STRANGER, text: "let me in", roomId: strangers });
  platform.write({ from: BOT, text: "I am svc", roomId: room });
  ask("", { msgtype: "m.notice", body: "I am a bot" }, room);
  ask(
    "",
    message("* corrected", {
      "m.new_content": message("corrected"),
      "m.relates_to": { rel_type: "m.replace", event_id: "$x" },
    }),
    room,
  );
  ask("here", undefined, room);
  await eventually(() => svc.received.length > 0);
  expect(textsOf(svc)).toEqual(["here"]);
  const log = svc.context.log.text();
  expect(log.split("not on the allowlist").length - 1).toBe(1);
});

test("follows an alias to the room that it leads to by now", async () => {
  const [old, next] = [platform.world.addRoom([PERSON, BOT]), platform.world.addRoom([PERSON])];
  platform.world.aliases.set("#office:hs.test", old);
  await using svc = await connected({ room_id: "#office:hs.test", invite: "never" });
  const send = (deliveryId: string) =>
    svc.channel.send(
      { conversation: { channel: "federated", id: "#office:hs.test" }, text: deliveryId, deliveryId },
      never,
    );
  expect(await send("one")).toMatchObject({ opened: { id: old } });
  platform.world.aliases.set("#office:hs.test", next);
  platform.world.setMembership(old, BOT, "leave");
  platform.world.setMembership(next, BOT, "invite", PERSON);
  expect(await send("two")).toMatchObject({ opened: { id: next } });
  expect(platform.world.rooms.get(next)!.events.at(-1)!.content).toMatchObject({ body: "two" });
  expect(platform.world.membership(next, BOT)).toBe("join");
  ask("here now", undefined, next);
  await eventually(() => svc.received.length === 1);
  expect(textsOf(svc)).toEqual(["here now"]);
});

test("accepts invitations of allowed people alone, and hears what was said since then", async () => {
  await using svc = await connected();
  const theirs = platform.world.addRoom([STRANGER]);
  platform.world.setMembership(theirs, BOT, "invite", STRANGER);
  const room = platform.world.addRoom([PERSON]);
  ask("before the invitation", undefined, room);
  platform.world.setMembership(room, BOT, "invite", PERSON);
  await eventually(() => platform.world.membership(room, BOT) === "join");
  ask("after it", undefined, room);
  await eventually(() => svc.received.length > 0);
  expect(textsOf(svc)).toEqual(["after it"]);
  expect(platform.world.membership(theirs, BOT)).toBe("invite");
});

test("accepts no invitation with invite = never", async () => {
  await using svc = await connected({ invite: "never" });
  const room = platform.world.addRoom([PERSON]);
  platform.world.setMembership(room, BOT, "invite", PERSON);
  ask("still here");
  await eventually(() => svc.received.length > 0);
  expect(platform.world.membership(room, BOT)).toBe("invite");
});

test("in a room of several people hears what mentions it, replies to it, or begins with its name", async () => {
  const room = group();
  await using svc = await connected();
  const { platformId } = await svc.channel.send(
    { conversation: { channel: "federated", id: room }, text: "Hello", deliveryId: "d" },
    never,
  );
  ask("nice weather", undefined, room);
  ask("", message("hey you", { "m.mentions": { user_ids: [BOT] } }), room);
  ask(
    "",
    message("and you?", { "m.mentions": {}, "m.relates_to": { "m.in_reply_to": { event_id: platformId } } }),
    room,
  );
  ask("svc: !new", undefined, room);
  await eventually(() => svc.received.length >= 3);
  expect(textsOf(svc)).toEqual(["hey you", "and you?", "/new"]);
  expect(svc.received[0]).toMatchObject({ group: true, senderName: "ada" });
  expect(svc.received[1]).toMatchObject({ repliesTo: platformId });
});

test("a thread is a conversation, and is answered in it", async () => {
  await using svc = await connected();
  const root = ask("root");
  const reply = { rel_type: "m.thread", event_id: root, is_falling_back: true, "m.in_reply_to": { event_id: root } };
  const eventId = ask("", message("in the thread", { "m.relates_to": reply }));
  await eventually(() => svc.received.length === 2);
  const { conversation, replyData, repliesTo } = svc.received[1]!;
  expect(conversation.thread).toBe(root);
  expect(repliesTo).toBeUndefined();
  await svc.channel.send({ conversation, text: "Yes", deliveryId: "d", replyData: replyData! }, never);
  expect(platform.sent.at(-1)!.content["m.relates_to"]).toEqual({
    rel_type: "m.thread",
    event_id: root,
    is_falling_back: true,
    "m.in_reply_to": { event_id: eventId },
  });
});

test("a redaction takes back a message that waits, and one of the same sync is never received", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  let first: string;
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
    first = ask("one");
    await eventually(() => svc.received.length === 1);
  }
  const redact = (eventId: string) =>
    platform.world.append({
      roomId: platform.room,
      sender: PERSON,
      type: "m.room.redaction",
      content: { redacts: eventId },
      redacts: eventId,
    });
  redact(first);
  const second = ask("two");
  redact(second);
  ask("three");
  await using svc = await connect(sectionFor(platform), kept, store);
  await eventually(() => svc.received.length > 0);
  expect(textsOf(svc)).toEqual(["three"]);
  expect(svc.context.withdrawn).toEqual([first, second]);
});

test("a reaction is recorded", async () => {
  await using svc = await connected();
  const content = { "m.relates_to": { rel_type: "m.annotation", event_id: "$x", key: "👍" } };
  platform.world.append({ roomId: platform.room, sender: PERSON, type: "m.reaction", content });
  await eventually(() => svc.received.length > 0);
  expect(svc.received[0]).toMatchObject({ kind: "reaction", text: "👍", replyData: { eventId: "$x" } });
});

test("shows that it has read and writes, and takes its reaction back", async () => {
  await using svc = await connected();
  const eventId = ask("hello");
  await eventually(() => svc.received.length > 0);
  const { conversation } = svc.received[0]!;
  await svc.channel.readMarks!.mark(conversation, eventId, never);
  await svc.channel.typing!.start(conversation, eventId, never);
  const room = platform.world.rooms.get(platform.room)!;
  const reaction = room.events.find(({ type }) => type === "m.reaction")!;
  expect(reaction.content).toMatchObject({ "m.relates_to": { event_id: eventId, key: "👀" } });
  expect(platform.world.signs.map(({ kind }) => kind)).toEqual(["receipt", "typing"]);
  await svc.channel.readMarks!.clear!(conversation, eventId, never);
  expect(reaction.content).toEqual({});
});

test("joins room_id at start", async () => {
  const room = platform.world.addRoom([STRANGER]);
  platform.world.setMembership(room, BOT, "invite", STRANGER);
  platform.world.aliases.set("#home:hs.test", room);
  await using _ = await connected({ room_id: "#home:hs.test" });
  expect(platform.world.membership(room, BOT)).toBe("join");
});

test("logs in with a password, keeps the token, and refuses a config of another account", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const section = sectionFor(platform, { access_token: undefined, password: "secret" });
  {
    await using svc = await connect(section, kept);
    await eventually(() => svc.failure() !== undefined);
    expect(svc.failure()).toMatchObject({ code: "CHANNEL_DOWN", hint: "svc channels setup federated" });
    expect(await svc.channel.setup!({ url: "" }, never)).toMatch(
      /^@svc:hs\.test, device \w+\. Logged in as the new device/,
    );
    expect(await svc.channel.setup!({ url: "" }, never)).not.toContain("Logged in");
  }
  await using svc = await connect(section, kept);
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const other = await connect(sectionFor(platform, { user_id: "@other:hs.test" }));
  await eventually(() => other.failure() !== undefined);
  expect(other.failure()).toMatchObject({ code: "FEATURE_FAILED" });
  const wrong = sectionFor(platform, { access_token: undefined, password: "wrong" });
  await using refused = await connect(wrong);
  await expect(refused.channel.setup!({ url: "" }, never)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
});
