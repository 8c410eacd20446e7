/** The routes of conversations as data. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import type { ApiRoute } from "./app.ts";
import { limit, name, time } from "./fields.ts";

type Spec = Omit<ApiRoute, "handle">;

/** Completes "The turn was stopped by …". */
export const BY = "an operator";

const SESSION = v.object({
  id: name("Of the conversation, for the paths below."),
  session_id: name("What its owner calls it (X-Session-Id)."),
  device: v.nullable(v.object({ id: v.string(), name: v.string() })),
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

const CALL = v.object({
  call_id: v.string(),
  tool: v.string(),
  input: v.unknown(),
  ok: v.boolean(),
  output: v.unknown(),
});

const PAGE = v.object({
  messages: v.array(
    v.object({
      turn_id: v.string(),
      at: time(),
      role: v.picklist(["user", "assistant"]),
      text: v.string(),
      calls: v.pipe(v.array(CALL), v.description("What the assistant had done along with it.")),
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
      author: v.nullable(
        v.object({
          kind: v.picklist(["device", "person", "terminal", "anonymous"]),
          id: v.nullable(v.string()),
          name: v.nullable(v.string()),
        }),
      ),
      replaced: v.pipe(v.boolean(), v.description("A later attempt took the place of its turn.")),
      problem: v.pipe(
        v.nullable(
          v.object({
            code: v.string(),
            reason: v.string(),
            fix: v.nullable(v.string()),
            said: v.pipe(
              v.nullable(v.string()),
              v.description("What the model provider said, without secrets; for operators only."),
            ),
          }),
        ),
        v.description("Why its turn was stopped, or failed."),
      ),
    }),
  ),
  before: v.pipe(v.nullable(v.string()), v.description("Leads to the messages before these; null: there are none.")),
  newest: v.pipe(
    v.nullable(v.object({ turn_id: v.string(), can: v.array(v.picklist(["continue", "retry", "edit"])) })),
    v.description("The newest turn, and what can be done about it; null: nothing."),
  ),
});

const params = { id: name("The conversation's id.") };
const errors = ["SESSION_UNKNOWN"] as const;

export const LIST: Spec = {
  method: "GET",
  path: "/api/sessions",
  access: "read",
  summary: "Lists conversations, the most recently active first.",
  details: "A token sees its own; an operator's sees all of them.",
  query: { limit: limit("conversations") },
  answers: { 200: { description: "The conversations.", body: v.object({ sessions: v.array(SESSION) }) } },
};

export const FIND: Spec = {
  method: "GET",
  path: "/api/sessions/{id}",
  access: "read",
  summary: "Tells about one conversation.",
  params,
  answers: { 200: { description: "The conversation.", body: SESSION } },
  errors,
};

export const MESSAGES: Spec = {
  method: "GET",
  path: "/api/sessions/{id}/messages",
  access: "read",
  summary: "Reads a conversation, from its end backwards.",
  params,
  query: {
    limit: limit("messages"),
    before: v.optional(
      v.pipe(v.string(), v.maxLength(200), v.description("the cursor of a page that was read before")),
    ),
  },
  answers: { 200: { description: "A page, the oldest message first.", body: PAGE } },
  errors,
};

export const CANCEL: Spec = {
  method: "POST",
  path: "/api/sessions/{id}/cancel",
  access: "operate",
  summary: "Stops what runs and waits in a conversation.",
  params,
  answers: {
    200: {
      description: "Whether there was anything to stop.",
      body: v.object({ id: v.string(), cancelled: v.boolean() }),
    },
  },
  errors,
};

export const REMOVE: Spec = {
  method: "DELETE",
  path: "/api/sessions/{id}",
  access: "operate",
  summary: "Stops what runs in a conversation and deletes it.",
  params,
  answers: {
    200: { description: "It is gone from the disk.", body: v.object({ id: v.string(), deleted: v.literal(true) }) },
  },
  errors: [...errors, "STORE_FULL", "STORE_FAILED"],
};

export const SESSION_SPECS = [LIST, FIND, MESSAGES, CANCEL, REMOVE];
