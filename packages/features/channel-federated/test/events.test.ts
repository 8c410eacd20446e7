// Every documented type of event that a room can have, and whatever a homeserver could make of one: what of it is a message, and that
// nothing of it breaks the channel. https://spec.matrix.org/v1.16/client-server-api/
import { cases } from "@svc/cases";
import type { Inbound, Json } from "@svc/contract";
import { fieldsOf } from "@svc/kit";
import { everyAlteration, flawOf } from "@svc/testkit/conformance/channel-conformance";
import { BOT, type MatrixPlatform, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inboundOf } from "../src/inbound.ts";
import { cryptoChangesIn } from "../src/sync.ts";
import { isVerification } from "../src/verification.ts";
import { connect, eventually, sectionFor } from "./fixture.ts";
import { memoryStore } from "./memory-store.ts";

const MXC = "mxc://hs.test/file1";
const info = { mimetype: "image/png", size: 3, w: 1, h: 1 };
const relation = { rel_type: "m.reference", event_id: "$request" };
const file = {
  v: "v2",
  url: MXC,
  key: {
    alg: "A256CTR",
    ext: true,
    k: Buffer.alloc(32).toString("base64url"),
    key_ops: ["encrypt", "decrypt"],
    kty: "oct",
  },
  iv: Buffer.alloc(16).toString("base64"),
  hashes: { sha256: Buffer.alloc(32).toString("base64") },
};

interface Documented {
  readonly type: string;
  readonly content: Readonly<Record<string, Json>>;
  readonly stateKey?: string;
  /** Undefined: no message. */
  readonly text?: string;
  readonly kind?: "reaction";
}

const messages: readonly Documented[] = [
  { type: "m.room.message", content: { msgtype: "m.text", body: "hello" }, text: "hello" },
  { type: "m.room.message", content: { msgtype: "m.emote", body: "waves" }, text: "* waves" },
  { type: "m.room.message", content: { msgtype: "m.notice", body: "a bot" } },
  {
    type: "m.room.message",
    content: { msgtype: "m.server_notice", body: "full", server_notice_type: "m.server_notice.usage_limit_reached" },
  },
  { type: "m.room.message", content: { msgtype: "m.image", body: "a.png", url: MXC, info }, text: "[image]" },
  {
    type: "m.room.message",
    content: { msgtype: "m.image", body: "look", filename: "a.png", file, info },
    text: "[image]\nlook",
  },
  {
    type: "m.room.message",
    content: { msgtype: "m.file", body: "a.pdf", url: MXC, info: { mimetype: "application/pdf" } },
    text: "[document]",
  },
  {
    type: "m.room.message",
    content: { msgtype: "m.audio", body: "a.ogg", url: MXC, info: { duration: 1, mimetype: "audio/ogg" } },
    text: "[audio]",
  },
  {
    type: "m.room.message",
    content: { msgtype: "m.audio", body: "v.ogg", url: MXC, "org.matrix.msc3245.voice": {} },
    text: "[voice message]",
  },
  {
    type: "m.room.message",
    content: { msgtype: "m.video", body: "a.mp4", url: MXC, info: { duration: 1 } },
    text: "[video]",
  },
  {
    type: "m.room.message",
    content: { msgtype: "m.location", body: "Berlin", geo_uri: "geo:52.5,13.4" },
    text: "[location: geo:52.5,13.4]\nBerlin",
  },
  {
    type: "m.room.message",
    content: { msgtype: "m.key.verification.request", body: "verify", from_device: "X", methods: [], to: BOT },
  },
  {
    type: "m.room.message",
    content: {
      msgtype: "m.text",
      body: "* b",
      "m.new_content": { msgtype: "m.text", body: "b" },
      "m.relates_to": { rel_type: "m.replace", event_id: "$a" },
    },
  },
  { type: "m.room.message", content: { msgtype: "org.example.unknown", body: "x" } },
  { type: "m.sticker", content: { body: "cat", url: MXC, info }, text: "[sticker]\ncat" },
  {
    type: "m.reaction",
    content: { "m.relates_to": { rel_type: "m.annotation", event_id: "$a", key: "👍" } },
    text: "👍",
    kind: "reaction",
  },
  { type: "m.room.redaction", content: { redacts: "$unknown", reason: "spam" } },
];

const others: readonly Documented[] = [
  ...["request", "ready", "start", "accept", "key", "mac", "done", "cancel"].map((step) => ({
    type: `m.key.verification.${step}`,
    content: {
      "m.relates_to": relation,
      from_device: "X",
      method: "m.sas.v1",
      code: "m.user",
      reason: "no",
      methods: ["m.sas.v1"],
    },
  })),
  {
    type: "m.call.invite",
    content: { call_id: "1", version: "1", lifetime: 60_000, party_id: "p", offer: { type: "offer", sdp: "v=0" } },
  },
  ...["candidates", "answer", "select_answer", "reject", "negotiate", "hangup", "sdp_stream_metadata_changed"].map(
    (step) => ({
      type: `m.call.${step}`,
      content: { call_id: "1", version: "1", party_id: "p" },
    }),
  ),
  // Answers to polls and live locations, of clients that have them.
  { type: "m.poll.start", content: { "m.poll": { question: { "m.text": [{ body: "Lunch?" }] } } } },
  { type: "m.poll.response", content: { "m.relates_to": { rel_type: "m.reference", event_id: "$poll" } } },
  { type: "m.poll.end", content: { "m.relates_to": { rel_type: "m.reference", event_id: "$poll" } } },
  { type: "m.beacon", content: { "m.relates_to": { rel_type: "m.reference", event_id: "$b" } } },
  { type: "org.example.custom", content: { body: "x", msgtype: "m.text" } },
];

const states: readonly Documented[] = [
  { type: "m.room.name", content: { name: "The office" }, stateKey: "" },
  { type: "m.room.topic", content: { topic: "Work", "m.topic": { "m.text": [{ body: "Work" }] } }, stateKey: "" },
  { type: "m.room.avatar", content: { url: MXC, info }, stateKey: "" },
  { type: "m.room.pinned_events", content: { pinned: ["$a"] }, stateKey: "" },
  { type: "m.room.canonical_alias", content: { alias: "#office:hs.test", alt_aliases: [] }, stateKey: "" },
  { type: "m.room.join_rules", content: { join_rule: "invite", allow: [] }, stateKey: "" },
  { type: "m.room.history_visibility", content: { history_visibility: "shared" }, stateKey: "" },
  { type: "m.room.guest_access", content: { guest_access: "forbidden" }, stateKey: "" },
  { type: "m.room.power_levels", content: { users: { [PERSON]: 100 }, events_default: 0 }, stateKey: "" },
  { type: "m.room.server_acl", content: { allow: ["*"], deny: ["evil.test"], allow_ip_literals: false }, stateKey: "" },
  {
    type: "m.room.third_party_invite",
    content: { display_name: "B", key_validity_url: "https://x.test", public_key: "k" },
    stateKey: "token",
  },
  { type: "m.room.tombstone", content: { body: "moved", replacement_room: "!new:hs.test" }, stateKey: "" },
  { type: "m.room.member", content: { membership: "join", displayname: "Ada L." }, stateKey: PERSON },
  { type: "m.room.member", content: { membership: "knock", reason: "please" }, stateKey: "@kim:hs.test" },
  { type: "m.room.member", content: { membership: "ban", reason: "spam" }, stateKey: "@mal:hs.test" },
  { type: "m.space.child", content: { via: ["hs.test"], order: "a" }, stateKey: "!child:hs.test" },
  { type: "m.space.parent", content: { via: ["hs.test"], canonical: true }, stateKey: "!parent:hs.test" },
  ...["user", "room", "server"].map((what) => ({
    type: `m.policy.rule.${what}`,
    content: { entity: "@*:evil.test", reason: "spam", recommendation: "m.ban" },
    stateKey: "rule",
  })),
];

const documented = [...messages, ...others, ...states];

let platform: MatrixPlatform;
beforeEach(async () => {
  platform = await startMatrix();
});
afterEach(() => platform.close());

test("of all documented events of rooms, messages and reactions are received, and nothing else", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  for (const { type, content, stateKey } of documented) {
    const redacts = type === "m.room.redaction" ? { redacts: "$unknown" } : {};
    platform.world.append({
      roomId: platform.room,
      sender: PERSON,
      type,
      content,
      ...redacts,
      ...(stateKey !== undefined && { stateKey }),
    });
  }
  platform.write({ from: PERSON, text: "the end" });
  await eventually(() => svc.received.some(({ text }) => text === "the end"));
  const expected = documented.flatMap(({ text, kind }) => (text === undefined ? [] : [{ text, kind }]));
  expect(svc.received.map(({ text, kind }) => ({ text, kind }))).toEqual([
    ...expected,
    { text: "the end", kind: undefined },
  ]);
  expect(svc.received.filter(({ media }) => media !== undefined).map(({ media }) => media![0]!.kind)).toEqual([
    "image",
    "image",
    "document",
    "audio",
    "audio",
    "video",
    "sticker",
  ]);
  expect(svc.failure()).toBeUndefined();
});

const reading = {
  roomId: "!room:hs.test",
  userId: BOT,
  ownName: "svc",
  senderName: "Ada",
  isGroup: true,
  mentionOnly: false,
  isReplyToUs: false,
  receivedAtMs: 1,
};
const flawIn = (event: unknown): string | undefined => {
  const fields = fieldsOf(event as Json);
  isVerification(fields);
  const inbound: Inbound | undefined = inboundOf(fields, reading);
  return inbound && flawOf({ inbound: [inbound] }, "federated");
};

test("whatever is altered in a documented event, what is made of it is sound", () => {
  let count = 0;
  for (const { type, content } of [...messages, ...others]) {
    const event = { type, sender: PERSON, event_id: "$event", origin_server_ts: 1, content, unsigned: { age: 1 } };
    for (const altered of everyAlteration(event)) {
      expect(flawIn(altered)).toBeUndefined();
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(1_000);
});

test("any JSON is read as an event, and as an answer to a sync", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...messages), (value, { type, content }) => {
      const json = value as Json;
      expect(flawIn({ type, sender: PERSON, event_id: "$e", content: json })).toBeUndefined();
      expect(
        flawIn({
          type,
          sender: PERSON,
          event_id: "$e",
          content: { ...content, "m.relates_to": json, info: json, file: json },
        }),
      ).toBeUndefined();
      expect(flawIn(json)).toBeUndefined();
      cryptoChangesIn(fieldsOf(json));
      cryptoChangesIn({
        to_device: json,
        device_lists: json,
        device_one_time_keys_count: json,
        device_unused_fallback_key_types: json,
      });
    }),
    { numRuns: cases(2_000) },
  );
});

/** Most alterations end the connection, and a new one takes its time; no place in the answer has as many as this. */
const SHARE = 11;

test("an answer to a sync that is altered anywhere ends the connection with an error that says so, or nothing at all", async () => {
  const store = memoryStore();
  await using svc = await connect(sectionFor(platform), {}, store);
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const event = {
    type: "m.room.message",
    sender: PERSON,
    event_id: "$event",
    origin_server_ts: Date.now(),
    content: { msgtype: "m.text", body: "x" },
  };
  const genuine: Json = {
    next_batch: "s2",
    rooms: {
      join: {
        [platform.room]: {
          timeline: { events: [event], limited: true, prev_batch: "t1" },
          state: { events: [{ ...event, type: "m.room.member", state_key: PERSON, content: { membership: "join" } }] },
        },
      },
      invite: { "!i:hs.test": { invite_state: { events: [{ ...event, type: "m.room.member", state_key: BOT }] } } },
    },
    to_device: { events: [{ type: "m.room_key", sender: PERSON, content: {} }] },
    device_lists: { changed: [PERSON], left: [PERSON] },
    device_one_time_keys_count: { signed_curve25519: 50 },
    device_unused_fallback_key_types: ["signed_curve25519"],
  };
  const all = [...everyAlteration(genuine)].map((altered, at) => {
    const hasNext = typeof fieldsOf(altered as Json)["next_batch"] === "string";
    return JSON.stringify(hasNext ? { ...(altered as object), next_batch: `a${at}` } : altered);
  });
  await svc[Symbol.asyncDispose]();
  const bodies = all.filter((_, at) => at % SHARE === 0);
  let next = 0;
  const errors = new Set<unknown>();
  platform.mood = ({ path }) => {
    if (!path.endsWith("/sync") || next >= bodies.length) return "takes";
    next += 1;
    return { babbles: bodies[next - 1]! };
  };
  const kept = { state: svc.context.state, secrets: svc.context.secrets };
  while (next < bodies.length) {
    const reached = next;
    await using again = await connect(sectionFor(platform), kept, store);
    // A loop that is given the same position once more waits for a second.
    await eventually(() => {
      void again.context.clock.advance(1_000);
      return again.failure() !== undefined || next >= bodies.length;
    });
    if (again.failure() !== undefined) errors.add((again.failure() as { code?: string }).code);
    expect(next).toBeGreaterThan(reached);
  }
  expect([...errors].filter((code) => code !== "REMOTE_UNREACHABLE" && code !== "DELIVERY_REFUSED")).toEqual([]);
  expect(bodies.length).toBeGreaterThan(50);
});
