// One value that is not what the platform's documents say, wherever it is, must be no error, which would keep every message
// behind it from being read, and no message that can't be kept or answered.
import type { Json } from "@svc/contract";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { interactionOf, reactionOf } from "../src/interactions.ts";
import { messageOf, rooms as knownRooms } from "../src/message.ts";
import { type Fields, fieldsOf } from "../src/protocol.ts";
import { fixture, PERSON, soon } from "./fixture.ts";

const self = { userId: "1080000000000000001" };
const cdn = { images: "https://cdn.discordapp.com", moving: "https://media.discordapp.net" };
const config = { mention_only: true, thread_replies: true };
const flaws = (inbound: unknown): string | undefined =>
  inbound === undefined ? undefined : flawOf({ inbound: [inbound as never] }, "discord");

/** As the platform tells of it, with everything that is read. */
const MESSAGE: Json = {
  id: "1456220000000000001",
  channel_id: "1456220000000000002",
  guild_id: "1456220000000000003",
  channel_type: 0,
  type: 19,
  author: { id: PERSON, username: "ada", global_name: "Ada", bot: false },
  member: { nick: "Countess", roles: [] },
  content: "<@1080000000000000001> look <@200000000000000002> <:party:1>",
  timestamp: "2026-01-01T12:00:00.000000+00:00",
  mentions: [
    { id: "1080000000000000001", username: "helper", bot: true },
    { id: "200000000000000002", username: "eve", member: { nick: null } },
  ],
  mention_roles: ["1"],
  attachments: [
    {
      id: "1",
      filename: "a.png",
      content_type: "image/png",
      size: 1,
      url: "https://cdn.discordapp.com/a.png",
      waveform: "A",
    },
  ],
  embeds: [{ title: "T", author: { name: "A" }, fields: [{ name: "N", value: "V" }], footer: { text: "F" } }],
  sticker_items: [{ id: "2", name: "Wave", format_type: 1 }],
  poll: { question: { text: "Q" }, answers: [{ poll_media: { text: "A" } }] },
  message_snapshots: [{ message: { content: "F", attachments: [] } }],
  referenced_message: {
    id: "5",
    author: { id: "1080000000000000001", username: "helper" },
    content: "Said",
    components: [],
  },
};

const COMMAND: Json = {
  id: "1456220000000000004",
  application_id: "1080000000000000002",
  type: 2,
  token: "token-of-it",
  channel_id: "1456220000000000002",
  guild_id: "1456220000000000003",
  member: { nick: "Countess", user: { id: PERSON, username: "ada" } },
  data: { id: "9", name: "model", type: 1, options: [{ type: 3, name: "name", value: "large" }] },
};

const PRESS: Json = {
  ...(COMMAND as object),
  type: 3,
  data: { custom_id: "svc-prompt:ap-12:yes", component_type: 2 },
  message: {
    id: "77",
    components: [{ type: 1, components: [{ custom_id: "svc-prompt:ap-12:yes", label: "Approve" }] }],
  },
} as unknown as Json;

const REACTION: Json = {
  user_id: PERSON,
  channel_id: "1456220000000000002",
  message_id: "1456220000000000001",
  guild_id: "1456220000000000003",
  message_author_id: "1080000000000000001",
  member: { nick: "Countess", user: { id: PERSON, username: "ada" } },
  emoji: { id: null, name: "👍" },
};

const READERS: readonly (readonly [name: string, payload: Json, read: (fields: Fields) => unknown])[] = [
  ["a message", MESSAGE, (fields) => messageOf({ config, rooms: knownRooms(), cdn }, self, fields)],
  ["a command", COMMAND, (fields) => interactionOf(fields)?.inbound],
  ["a press", PRESS, (fields) => interactionOf(fields)?.inbound],
  ["a reaction", REACTION, (fields) => reactionOf(self, fields)],
];

test.each(READERS)("%s is read", (_, payload, read) => {
  expect(read(fieldsOf(payload))).toBeDefined();
  expect(flaws(read(fieldsOf(payload)))).toBeUndefined();
});

test.each(READERS)("%s with any of its values altered", (_, payload, read) => {
  const found = new Set(Array.from(everyAlteration(payload), (altered) => flaws(read(fieldsOf(altered)))));
  expect(found).toEqual(new Set([undefined]));
});

test.each(READERS)("%s that is any JSON at all", (_, __, read) => {
  const found = fc.check(fc.property(fc.jsonValue({ maxDepth: 4 }), (any) => flaws(read(fieldsOf(any))) === undefined));
  expect(found.counterexample).toBeNull();
});

test("our own message is none, whatever else is said of it", () => {
  const own = { ...fieldsOf(MESSAGE), author: { id: self.userId } };
  expect(messageOf({ config, rooms: knownRooms(), cdn }, self, own)).toBeUndefined();
});

test("what is known of servers is not upset by any JSON", () => {
  const types = [
    "GUILD_CREATE",
    "GUILD_ROLE_CREATE",
    "THREAD_CREATE",
    "THREAD_LIST_SYNC",
    "THREAD_MEMBERS_UPDATE",
    "x",
  ];
  const rooms = knownRooms();
  rooms.setSelf(self.userId);
  const any = fc.tuple(fc.constantFrom(...types, "constructor", "__proto__"), fc.jsonValue({ maxDepth: 4 }));
  const { failed } = fc.check(fc.property(any, ([type, data]) => rooms.learn(type, fieldsOf(data))));
  expect(failed).toBe(false);
  for (const type of types) {
    const guild = {
      id: "1",
      roles: [{ id: "2", tags: { bot_id: "3" } }],
      threads: [{ id: "4", member: {}, owner_id: "5" }],
    };
    for (const altered of everyAlteration(guild)) rooms.learn(type, fieldsOf(altered));
  }
});

test("a message of a hundred thousand spaces takes no time", () => {
  const content = `x${" ".repeat(100_000)}y<@1080000000000000001>`;
  const read = messageOf({ config, rooms: knownRooms(), cdn }, self, { ...fieldsOf(MESSAGE), content });
  expect(read?.text.length).toBeGreaterThan(100_000);
});

test("over the gateway: whatever a message is made of, the next one is read", async () => {
  await using at = await fixture();
  await at.start();
  let told = 0;
  for (const altered of everyAlteration(MESSAGE)) {
    if (told++ % 7 !== 0) continue;
    at.platform.world.tell({ type: "MESSAGE_CREATE", data: fieldsOf(altered) as Record<string, Json>, intent: 0 });
  }
  const { id } = at.platform.write({ from: PERSON, text: "the next one" });
  await soon(() => at.context.received.some((one) => one.id === id));
  for (const one of at.context.received) expect(flaws(one)).toBeUndefined();
});
