/** `svc chat`, `svc tools`, `svc sessions`. */
import { integer, type Json, type TurnEvent } from "@svc/contract";
import * as v from "valibot";
import { FileInfo } from "../files.ts";
import { ToolReport } from "../reports.ts";
import { anyJson, type Output } from "../schema.ts";
import { EXPORT_FORMATS } from "../limits.ts";
import { Session, SessionCancelled, SessionFound, SessionPage } from "../sessions.ts";
import { count, type Message, nothing, typed } from "./message.ts";

export const ChatAnswer = v.object({
  response: v.string(),
  model: v.string(),
  session_id: v.string(),
  input_tokens: integer(0),
  output_tokens: integer(0),
  cost_usd: v.pipe(v.nullable(v.number()), v.description("null: the price of the model is not set.")),
});
export type ChatAnswer = Output<typeof ChatAnswer>;

/** What happens during a turn, and what it asks the person at the terminal. */
export type ChatEvent =
  | Exclude<TurnEvent, { readonly type: "turn-start" | "turn-end" }>
  /** The message is on disk, with its files. */
  | { readonly type: "stored" }
  /** Nobody can be asked at the terminal: where an answer is waited for. */
  | { readonly type: "waiting"; readonly approval: number; readonly tool: string }
  | QuestionEvent;

/** A tool call that waits for a person, who answers by `answer`; and that no answer is waited for any more. */
export type QuestionEvent =
  | {
      readonly type: "question";
      readonly id: string;
      readonly tool: string;
      readonly input: Json;
      readonly reason: string;
    }
  | { readonly type: "question-over"; readonly id: string; readonly outcome: string };

const MAX_QUERY_CHARS = 200;
const MOST_SESSIONS = 10_000;
const PAGE = 100;

export const CONVERSATIONS = {
  chat: {
    input: v.object({
      text: v.string(),
      follow: v.exactOptional(v.picklist(["retry", "continue"])),
      session: v.exactOptional(v.string()),
      agent: v.exactOptional(v.string()),
      /** Ids of attached files. */
      files: v.optional(v.array(v.string()), []),
      interactive: v.optional(v.boolean(), false),
    }),
    output: ChatAnswer,
  },
  tools: { input: nothing, output: ToolReport },
  tool: {
    input: v.object({
      name: v.string(),
      /** JSON text. */
      input: v.optional(v.string(), "{}"),
      agent: v.exactOptional(v.string()),
      interactive: v.optional(v.boolean(), false),
    }),
    output: v.object({ ok: v.boolean(), output: anyJson }),
  },
  answer: {
    input: v.object({ id: v.string(), approved: v.boolean(), feedback: v.exactOptional(v.string()) }),
    output: v.object({ ok: v.literal(true) }),
  },
  attach: {
    input: v.object({
      /** In the folder of uploads. A name of ours: no other path is read, or removed. */
      copy: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}\.part$/)),
      /** Of the file, for people. */
      name: v.string(),
    }),
    output: FileInfo,
  },
  detach: {
    input: v.object({ id: v.string() }),
    output: v.object({ id: v.string(), deleted: v.boolean() }),
  },
  sessions: {
    input: v.object({ archived: v.optional(v.boolean(), false), limit: count(MOST_SESSIONS) }),
    output: v.object({ sessions: v.array(Session) }),
  },
  "session-search": {
    input: v.object({
      query: v.pipe(
        v.string(),
        v.transform((query) => query.slice(0, MAX_QUERY_CHARS)),
      ),
      limit: count(PAGE),
    }),
    output: v.object({ results: v.array(SessionFound) }),
  },
  "session-update": {
    input: v.object({
      id: v.string(),
      changes: v.object({
        title: v.exactOptional(v.string()),
        pinned: v.exactOptional(v.boolean()),
        archived: v.exactOptional(v.boolean()),
      }),
    }),
    output: Session,
  },
  "session-export": {
    input: v.object({
      id: v.string(),
      format: typed(EXPORT_FORMATS, `--format takes ${EXPORT_FORMATS.join(" or ")}.`),
    }),
    output: v.object({ text: v.string() }),
  },
  "session-messages": {
    input: v.object({ id: v.string(), limit: count(PAGE), before: v.exactOptional(v.string()) }),
    output: v.object({ session: Session, ...SessionPage.entries }),
  },
  "session-cancel": { input: v.object({ id: v.string() }), output: SessionCancelled },
  "session-delete": { input: v.object({ id: v.string() }), output: Session },
} satisfies Readonly<Record<string, Message>>;
