// What deliveries say: every documented shape, what is no message of a person, and whatever a stranger makes up.
import { vectorCases } from "@svc/testkit/vectors";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Inbound, Json } from "@svc/contract";
import { type Changes, fixture, open, posted } from "./open-channel.ts";

const parse = (payload: Json | string, changes: Changes = {}): readonly Inbound[] =>
  open(changes).ingress.parse(posted(payload)).inbound ?? [];
const anyone: Changes = { allowed_users: ["*"] };

interface Input {
  readonly config: { readonly allowed: readonly string[]; readonly bot_name: string };
  readonly payload: Json;
}
interface Expected {
  readonly messages: readonly {
    readonly id: string;
    readonly sender: string;
    readonly content: string;
    readonly reply_target: string;
    readonly timestamp?: number;
  }[];
}

test.each(vectorCases<Input, Expected>("payload.provider_d"))("$name", ({ input, expected }) => {
  const found = parse(input.payload, { allowed_users: input.config.allowed, bot_name: input.config.bot_name });
  expect(found).toHaveLength(expected.messages.length);
  for (const [index, message] of expected.messages.entries()) {
    expect(found[index]).toMatchObject({
      id: message.id,
      sequence: Number(message.id),
      sender: message.sender,
      text: message.content,
      conversation: { channel: "provider_d", id: message.reply_target },
      replyData: { replyTo: Number(message.id) },
      ...(message.timestamp !== undefined && { sentAtMs: message.timestamp * 1000 }),
    });
  }
});

const base = {
  conversation: { channel: "provider_d", id: "n3xtc10ud" },
  sender: "ada-lovelace",
  senderName: "Ada Lovelace",
  group: true,
};
const numbered = (id: number) => ({ ...base, id: String(id), sequence: id, replyData: { replyTo: id } });
const shared = (name: string) => ({ ref: "aBcDeFgHiJkLmNo", placeholder: `[file: ${name}]`, fileName: name });

test.each<[string, Inbound[]]>([
  ["create", [{ ...numbered(1567), text: "hi @world and @Grace Hopper!" }]],
  [
    "reply",
    [
      {
        ...numbered(1568),
        text: "> Helper (Bot): It rains.\n> Take an umbrella, @Grace Hopper.\n\nAnd tomorrow?",
      },
    ],
  ],
  [
    "file",
    [
      {
        ...numbered(1569),
        text: "[file: report.pdf]",
        media: [{ kind: "document", mimeType: "application/pdf", ...shared("report.pdf") }],
      },
    ],
  ],
  [
    "file-with-caption",
    [
      {
        ...numbered(1570),
        text: "The numbers of March\n[file: march.png]",
        media: [{ kind: "image", mimeType: "image/png", ...shared("march.png") }],
      },
    ],
  ],
  ["location", [{ ...numbered(1572), text: "[location: Brandenburg Gate, 52.5162, 13.3777]" }]],
  ["poll", [{ ...numbered(1573), text: "[poll: Lunch where?]" }]],
  ["like", [{ ...base, kind: "reaction", id: "like:1567:users/ada-lovelace:😆", text: "😆" }]],
  ["legacy", [{ ...numbered(1577), text: "hi @Grace Hopper", sentAtMs: 1_735_701_200_000 }]],
  ["guest", []],
  ["system-message", []],
  ["own-message", []],
  ["undo", []],
  ["join", []],
  ["leave", []],
])("%s", (name, expected) => {
  expect(parse(fixture(name))).toEqual(expected);
});

test("a recording is audio, so that it is transcribed", () => {
  expect(parse(fixture("voice-message"))[0]?.media).toMatchObject([{ kind: "audio", mimeType: "audio/mpeg" }]);
});

test.each(["system-message", "own-message", "undo", "join", "leave"])(
  "%s is nobody's, also where everybody may write",
  (name) => {
    expect(parse(fixture(name), anyone)).toEqual([]);
  },
);

test("a guest, or a person of another server, never passes as the user of the same name", () => {
  const from = (id: string) => ({ ...(fixture("create") as object), actor: { type: "Person", id, name: "Ada" } });
  const kinds = ["guests", "emails", "federated_users", "phones", "USERS"];
  expect(kinds.flatMap((kind) => parse(from(`${kind}/ada-lovelace`)))).toEqual([]);
  const allowed = { allowed_users: ["federated_users/ada@other.example"] };
  expect(parse(from("federated_users/ada@other.example"), allowed)).toMatchObject([
    { sender: "federated_users/ada@other.example" },
  ]);
  const legacy = fixture("legacy") as { message: object };
  expect(parse({ ...legacy, message: { ...legacy.message, actorType: "guests" } })).toEqual([]);
});

test("who is not on the list is told to the log once, and never answered", () => {
  const { ingress, context } = open({ allowed_users: [] });
  for (let time = 0; time < 3; time += 1) expect(ingress.parse(posted(fixture("create")))).toEqual({});
  expect(context.log.lines.map(({ fields }) => fields)).toEqual([{ channel: "provider_d", sender: "ada-lovelace" }]);
});

test("a file of anywhere else than this server is named, and not fetched", () => {
  const payload = fixture("file") as { object: { content: string } };
  for (const link of [
    "https://evil.example/s/aBcDeFgHiJkLmNo",
    "https://cloud.example.org.evil.example/s/aBcDeFgHiJkLmNo",
    "https://cloud.example.org/f/4711",
    "https://cloud.example.org/s/../../secret",
    "https://cloud.example.org/s/aBcDeFgHiJkLmNo?x=1",
    "",
  ]) {
    const content = JSON.stringify({
      message: "{file}",
      parameters: { file: { type: "file", name: "a]\n[b.pdf", link, mimetype: "application/pdf" } },
    });
    const [message] = parse({ ...payload, object: { ...payload.object, content } });
    expect(message).toMatchObject({ text: "[file: a b.pdf; it can't be fetched from the platform]" });
    expect(message).not.toHaveProperty("media");
  }
});

test("placeholders without a parameter, and content that is no JSON, are shown as they were written", () => {
  const payload = fixture("create") as { object: object };
  const said = (content: string) => parse({ ...payload, object: { ...payload.object, content } })[0]?.text;
  expect(said(JSON.stringify({ message: "a {b} {mention-user1}", parameters: [] }))).toBe("a {b} {mention-user1}");
  expect(said(JSON.stringify({ message: "x", parameters: { a: null, b: 7, c: { type: "user" } } }))).toBe("x");
  expect(said("just text")).toBe("just text");
  expect(said(JSON.stringify({ message: "  ", parameters: [] }))).toBeUndefined();
});

test("what is no JSON is 400, what is of no known shape is no message", () => {
  for (const body of ["", "{", "\u0000", '{"type":"Create"', "[".repeat(200)]) {
    expect(() => parse(body)).toThrow(expect.objectContaining({ code: "BAD_JSON" }));
  }
  const unknown = ["null", "[]", "7", '""', "{}", '{"type":7}', '{"type":"Create"}', '{"type":"message"}'];
  expect(unknown.flatMap((body) => parse(body))).toEqual([]);
});

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>(
      "Create",
      "Activity",
      "Like",
      "Note",
      "message",
      "users/ada-lovelace",
      "bots/x",
      "1567",
      "{file}",
    ),
    fc.jsonValue() as fc.Arbitrary<Json>,
    fc.dictionary(
      fc.constantFrom("type", "actor", "object", "target", "id", "name", "content", "inReplyTo", "message", "token"),
      tie("value"),
    ),
  ),
})).value;

test("no payload makes it throw, and no message lacks what one must have", () => {
  fc.assert(
    fc.property(json, (payload) => {
      for (const message of parse(JSON.stringify(payload), anyone)) {
        expect(message.conversation.id).not.toBe("");
        expect(message.sender).not.toBe("");
      }
    }),
  );
});

test("a damaged delivery is either read or left, whichever part of it is replaced", () => {
  const names = ["create", "reply", "file", "legacy", "like"];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.nat(), json, (name, at, part) => {
      const payload = fixture(name);
      const places: [holder: Record<string, Json>, key: string][] = [];
      (function walk(value: Json) {
        if (typeof value !== "object" || value === null) return;
        for (const [key, inner] of Object.entries(value)) {
          places.push([value as Record<string, Json>, key]);
          walk(inner);
        }
      })(payload);
      const [holder, key] = places[at % places.length]!;
      holder[key] = part;
      for (const message of parse(JSON.stringify(payload), anyone)) expect(message.conversation.id).not.toBe("");
    }),
  );
});
