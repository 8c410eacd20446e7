/** Conversations and what was said in them. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import { FileInfo } from "./files.ts";
import { anyJson, limit, name, oneOf, time, type Output, type ParametersOutput } from "./schema.ts";

/** Of a title that a person gives, and of every one that is shown. */
export const TITLE_CHARS = 120;

export const EXPORT_FORMATS = ["markdown", "json"] as const;

export const Session = v.object({
  id: name("The conversation's id, for the paths below."),
  session_id: name("The owner's name for it (X-Session-Id)."),
  device: v.nullable(v.object({ id: v.string(), name: v.string() })),
  title: v.pipe(v.nullable(v.string()), v.description("null: no message has words.")),
  titled_by: v.pipe(v.picklist(["words", "model", "person"]), v.description("words: the first of the conversation.")),
  preview: v.pipe(v.string(), v.description("The beginning of what was said last, in one line.")),
  unread: v.pipe(integer(0), v.description("Turns that no operator has read: one count for all devices of operators.")),
  pinned: v.boolean(),
  archived: v.boolean(),
  agent: v.pipe(v.nullable(v.string()), v.description("Chosen for this conversation; null: as configured.")),
  model: v.pipe(v.nullable(v.string()), v.description("Chosen for this conversation; null: as configured.")),
  turns: integer(0),
  kind: v.pipe(
    v.picklist(["chat", "channel", "procedure"]),
    v.description("chat: of the page, the command line or /webhook."),
  ),
  channel: v.pipe(
    v.nullable(v.object({ channel: v.string(), id: v.string(), thread: v.nullable(v.string()) })),
    v.description("Where its people are, if it is one with people on a channel."),
  ),
  running: v.pipe(v.boolean(), v.description("A turn of it runs or waits.")),
  created_at: time(),
  updated_at: time(),
});
export type Session = Output<typeof Session>;

export const SessionList = v.object({ sessions: v.array(Session), before: nextPage("conversations after these") });
export type SessionList = Output<typeof SessionList>;

export const SessionListQuery = {
  limit: limit("conversations"),
  before: pageCursor(),
  archived: oneOf(["false", "true", "all"]),
};
export type SessionListQuery = ParametersOutput<typeof SessionListQuery>;

export const SessionCall = v.object({
  call_id: v.string(),
  tool: v.string(),
  input: anyJson,
  ok: v.boolean(),
  outcome: v.pipe(
    v.picklist(["done", "failed", "rejected"]),
    v.description("rejected: a person said no, and nothing was done."),
  ),
  output: anyJson,
});
export type SessionCall = Output<typeof SessionCall>;

export const MessageAuthor = v.object({
  kind: v.picklist(["device", "person", "terminal", "anonymous"]),
  id: v.nullable(v.string()),
  name: v.nullable(v.string()),
});
export type MessageAuthor = Output<typeof MessageAuthor>;

export const TurnProblem = v.object({
  code: v.string(),
  reason: v.string(),
  fix: v.nullable(v.string()),
  said: v.pipe(
    v.nullable(v.string()),
    v.description("What the model provider said, without secrets; for operators only."),
  ),
});
export type TurnProblem = Output<typeof TurnProblem>;

export const SessionMessage = v.object({
  turn_id: v.string(),
  at: time(),
  role: v.picklist(["user", "assistant"]),
  text: v.string(),
  files: v.pipe(v.array(FileInfo), v.description("What the message came with.")),
  calls: v.pipe(v.array(SessionCall), v.description("What the assistant had done along with it.")),
  state: v.pipe(
    v.picklist(["done", "stopped", "failed", "running", "waiting"]),
    v.description("Of its turn. While it runs, the text is what has come so far."),
  ),
  kind: v.pipe(
    v.picklist(["message", "continue", "by_hand"]),
    v.description(
      "continue: asks for the rest of the answer before, in the service's words. by_hand: a person answered in the place of the model.",
    ),
  ),
  author: v.nullable(MessageAuthor),
  replaced: v.pipe(v.boolean(), v.description("A later attempt took the place of its turn.")),
  problem: v.pipe(v.nullable(TurnProblem), v.description("Why its turn was stopped, or failed.")),
});
export type SessionMessage = Output<typeof SessionMessage>;

export const SessionPage = v.object({
  messages: v.array(SessionMessage),
  before: v.pipe(v.nullable(v.string()), v.description("Cursor of the messages before these; null: no more.")),
  newest: v.pipe(
    v.nullable(v.object({ turn_id: v.string(), can: v.array(v.picklist(["continue", "retry", "edit"])) })),
    v.description("The newest turn, and what can be done about it; null: nothing."),
  ),
});
export type SessionPage = Output<typeof SessionPage>;

export const SessionPageQuery = { limit: limit("messages"), before: pageCursor() };
export type SessionPageQuery = ParametersOutput<typeof SessionPageQuery>;

export const SessionFound = v.object({
  session: Session,
  turn_id: v.string(),
  at: time(),
  role: v.picklist(["user", "assistant"]),
  snippet: v.pipe(
    v.array(v.object({ text: v.string(), hit: v.boolean() })),
    v.description("One line of the message, in parts: those that were looked for, and those around them."),
  ),
});
export type SessionFound = Output<typeof SessionFound>;

export const SessionSearchResults = v.object({ results: v.array(SessionFound), before: nextPage("older results") });
export type SessionSearchResults = Output<typeof SessionSearchResults>;

const MAX_QUERY_CHARS = 200;

export const SessionSearchQuery = {
  q: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(MAX_QUERY_CHARS),
    v.description(`1 to ${MAX_QUERY_CHARS} characters to look for`),
  ),
  limit: limit("results"),
  before: pageCursor(),
};
export type SessionSearchQuery = ParametersOutput<typeof SessionSearchQuery>;

export const SessionUpdate = v.strictObject({
  title: v.exactOptional(
    v.pipe(
      v.nullable(v.string()),
      v.description(`1 to ${TITLE_CHARS} characters in one line; null: the first words of the conversation.`),
    ),
  ),
  pinned: v.exactOptional(v.boolean()),
  archived: v.exactOptional(v.boolean()),
  agent: v.exactOptional(v.pipe(v.nullable(v.string()), v.description("An agent of the config; null: as configured."))),
  model: v.exactOptional(
    v.pipe(v.nullable(v.string()), v.description("One that the agent can answer with; null: as configured.")),
  ),
});
export type SessionUpdate = Output<typeof SessionUpdate>;

export const SessionRead = v.strictObject({
  turns: v.pipe(integer(0), v.description("How many of its turns were seen: what came meanwhile stays unread.")),
});
export type SessionRead = Output<typeof SessionRead>;

export const SessionCancelled = v.object({ id: v.string(), cancelled: v.boolean() });
export type SessionCancelled = Output<typeof SessionCancelled>;

export const SessionDeleted = v.object({ id: v.string(), deleted: v.literal(true) });
export type SessionDeleted = Output<typeof SessionDeleted>;

export const SessionExportQuery = { format: oneOf(EXPORT_FORMATS) };
export type SessionExportQuery = ParametersOutput<typeof SessionExportQuery>;

function pageCursor() {
  return v.optional(v.pipe(v.string(), v.maxLength(200), v.description("the cursor of a page that was read before")));
}

function nextPage(what: string) {
  return v.pipe(v.nullable(v.string()), v.description(`Cursor of the ${what}; null: no more.`));
}
