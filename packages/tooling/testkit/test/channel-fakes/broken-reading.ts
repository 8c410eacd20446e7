/** What can be wrong with what a delivery says. One fake each. */
import { type RawRequest, SvcError } from "@svc/contract";
import { type Broken, inMessages, inParse, without } from "./spoil.ts";

const PARSED = "a message is parsed: its text, who wrote it, where, and when";
const DUPLICATE =
  "a duplicate is known by its id: made anew and received later it has the same, another message has another";
const ALLOWED = "who is not on the allowlist is not heard, and told to the log once";
const SHAPE = "JSON of an unknown shape holds no messages";
const BAD_JSON = "what is no JSON, no UTF-8 or nested too deeply is BAD_JSON";
const WHATEVER = "whatever JSON comes, parse does not fail, and what it finds is sound";
const PURE = "parse is pure: the same of the same each time, nothing asked, nothing kept, nothing changed";

const textOf = ({ body }: RawRequest): string => Buffer.from(body).toString("latin1");
const inbound = (text: string) => ({
  inbound: [{ id: text, sender: "alice", conversation: { channel: "chat", id: "room-1" }, text }],
});

export const BROKEN_READING: readonly Broken[] = [
  ["another text", PARSED, inMessages((message) => ({ ...message, text: "HELLO" }))],
  [
    "another channel",
    PARSED,
    inMessages((message) => ({ ...message, conversation: { channel: "other", id: "room-1" } })),
  ],
  [
    "a message too many",
    PARSED,
    inParse((parse) => (request) => ({ inbound: [0, 1].flatMap(() => parse(request).inbound ?? []) })),
  ],
  ["no id", DUPLICATE, inMessages((message) => without(message as { id: string }, "id"))],
  ["one id for all", DUPLICATE, inMessages((message) => ({ ...message, id: "id" }))],
  [
    "an id of the moment",
    DUPLICATE,
    inMessages((message, { receivedAtMs }) => ({ ...message, id: `${receivedAtMs}` })),
  ],
  [
    "answering itself",
    "what we wrote ourselves is no message",
    inParse((parse) => (request) => (textOf(request).includes('"bot"') ? inbound("own") : parse(request))),
  ],
  [
    "strangers heard",
    ALLOWED,
    inParse((parse) => (request) => (textOf(request).includes("mallory") ? inbound("stranger") : parse(request))),
  ],
  [
    "a line for each message",
    ALLOWED,
    inParse((parse, { log }) => (request) => {
      const parsed = parse(request);
      if ((parsed.inbound ?? []).length === 0) log.info("a sender is not on the allowlist");
      return parsed;
    }),
  ],
  ["a message in everything", SHAPE, inParse((parse) => (request) => ({ ...inbound("x"), ...parse(request) }))],
  [
    "an error for what it does not know",
    SHAPE,
    inParse((parse) => (request) => {
      if (textOf(request) === "[]") throw new SvcError("BAD_REQUEST");
      return parse(request);
    }),
  ],
  [
    "nothing said of what is no JSON",
    BAD_JSON,
    inParse((parse) => (request) => (request.body.length === 0 ? {} : parse(request))),
  ],
  [
    "the runtime's own error for what is no JSON",
    BAD_JSON,
    inParse((parse) => (request) => (JSON.parse(textOf(request)), parse(request))),
  ],
  [
    "a long message cut",
    "a message of half a megabyte is one message, whole",
    inMessages((message) => ({ ...message, text: (message as { text: string }).text.slice(0, 100_000) })),
  ],
  [
    "an error for an odd value",
    WHATEVER,
    inParse((parse) => (request) => {
      const json = JSON.parse(textOf(request)) as { room?: unknown } | null;
      if (typeof json?.room === "number") throw new TypeError("room.trim is not a function");
      return parse(request);
    }),
  ],
  [
    "a table that is asked for what every object has",
    WHATEVER,
    inParse((parse) => (request) => {
      const json = JSON.parse(textOf(request)) as { room?: unknown } | null;
      if (json?.room === "constructor") throw new TypeError("kind.toUpperCase is not a function");
      return parse(request);
    }),
  ],
  ["a name of any length", PARSED, inMessages((message) => ({ ...message, senderName: "x".repeat(1000) }))],
  ["a time that no date holds", PARSED, inMessages((message) => ({ ...message, sentAtMs: 1e300 }))],
  [
    "an odd value taken for a text",
    WHATEVER,
    inParse((parse) => (request) => {
      const json = JSON.parse(textOf(request)) as { text?: never; from?: string } | null;
      return json?.from === "alice"
        ? { inbound: [{ ...inbound("x").inbound[0], text: json.text }] as never }
        : parse(request);
    }),
  ],
  [
    "an error for an odd question",
    "a question by GET is answered, or refused with a code",
    inParse((parse) => (request) => {
      if (request.method === "GET")
        return { reply: { status: 200, contentType: "text/plain", body: request.query.get("a")?.trim() as never } };
      return parse(request);
    }),
  ],
  [
    "the clock",
    PURE,
    inParse(
      (parse, { clock }) =>
        (request) => (clock.now(), parse(request)),
    ),
  ],
  [
    "its own memory",
    PURE,
    inParse((parse) => {
      const seen = new Set<string>();
      return (request) => (seen.has(textOf(request)) ? {} : (seen.add(textOf(request)), parse(request)));
    }),
  ],
  [
    "the platform asked",
    PURE,
    inParse(
      (parse, { state }) =>
        (request) => (void state.get("cursor"), parse(request)),
    ),
  ],
  [
    "a changed body",
    PURE,
    inParse((parse) => (request) => {
      const parsed = parse(request);
      request.body.fill(0);
      return parsed;
    }),
  ],
];
