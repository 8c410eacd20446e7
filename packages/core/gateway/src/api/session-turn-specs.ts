/** The routes by which operators write in conversations, as data. */
import * as v from "valibot";
import { IDEMPOTENCY_KEY, SESSION_ID } from "../webhook/request-headers.ts";
import { MESSAGE } from "../webhook/message.ts";
import { DUPLICATE } from "../webhook/route.ts";
import type { ApiRoute } from "./app.ts";
import { name } from "./fields.ts";
import { FILE_IDS } from "./file-specs.ts";

type Spec = Omit<ApiRoute, "handle">;

const { message } = MESSAGE.entries;

export const MESSAGE_BODY = v.object({ message });

/** Blank only when there are files. */
const words = v.optional(
  v.pipe(v.string(), v.description("What the agent is told; may be blank or left out when there are files.")),
);
export const SEND_BODY = v.object({ message: words, files: FILE_IDS });
export const BEGIN_BODY = v.object({ ...SEND_BODY.entries, session_id: v.optional(SESSION_ID) });

/** A message and what comes with it. */
export interface SentBody {
  readonly message?: string;
  readonly files?: readonly string[];
  readonly session_id?: string;
}

const STORED = v.object({
  id: name("Of the conversation."),
  session_id: name("What its owner calls it (X-Session-Id)."),
  turn_id: v.string(),
  state: v.pipe(
    v.picklist(["running", "waiting"]),
    v.description("waiting: another turn of the conversation is before it."),
  ),
});

const SETTLED = v.object({ session_id: v.string(), turn_id: v.string(), response: v.string() });

const WAS_TAKEN = v.object({
  status: v.literal(DUPLICATE.status),
  idempotent: v.literal(DUPLICATE.idempotent),
  message: v.literal(DUPLICATE.message),
});

const answers = {
  200: {
    description: "The answer to a command such as /status, or that this request was a duplicate.",
    body: v.union([SETTLED, WAS_TAKEN]),
  },
  202: { description: "The message is on disk; the answer comes by the events.", body: STORED },
};

const headers = { "X-Idempotency-Key": v.optional(IDEMPOTENCY_KEY) };
const params = { id: name("The conversation's id.") };
const turnParams = { ...params, turn: name("Id of its newest turn, which was stopped or failed.") };

const STORE = [
  "BAD_IDEMPOTENCY_KEY",
  "AGENT_UNKNOWN",
  "FILE_UNKNOWN",
  "TOOL_FAILED",
  "BUSY",
  "STORE_FULL",
  "STORE_FAILED",
] as const;
const SESSION = ["SESSION_UNKNOWN", "SESSION_KIND"] as const;
const FOLLOWED = [...SESSION, "TURN_UNKNOWN", "TURN_RUNNING", "TURN_STATE", ...STORE] as const;

export const BEGIN: Spec = {
  method: "POST",
  path: "/api/sessions",
  access: "operate",
  summary: "Begins a conversation, or goes on with one of this device's by its name.",
  details:
    "The message is on disk before this is answered. Stopped and failed turns keep it, and what came of the answer.",
  headers,
  body: BEGIN_BODY,
  answers,
  errors: STORE,
};

export const SEND: Spec = {
  method: "POST",
  path: "/api/sessions/{id}/messages",
  access: "operate",
  summary: "Sends a message to a conversation, whichever device began it.",
  details: "While a turn of the conversation runs the message waits for it.",
  params,
  headers,
  body: SEND_BODY,
  answers,
  errors: [...SESSION, ...STORE],
};

export const RETRY: Spec = {
  method: "POST",
  path: "/api/sessions/{id}/turns/{turn}/retry",
  access: "operate",
  summary: "Sends the message of a stopped or failed turn once more.",
  details:
    "The new turn takes the place of the old one, which stays in the conversation for people to read. One in which a tool acted stays for the model too.",
  params: turnParams,
  headers,
  answers,
  errors: FOLLOWED,
};

export const EDIT: Spec = {
  method: "POST",
  path: "/api/sessions/{id}/turns/{turn}/edit",
  access: "operate",
  summary: "Sends another message in the place of that of a stopped or failed turn.",
  details: "Files of that message come with it again where their ids are among `files`.",
  params: turnParams,
  headers,
  body: SEND_BODY,
  answers,
  errors: FOLLOWED,
};

export const CONTINUE: Spec = {
  method: "POST",
  path: "/api/sessions/{id}/turns/{turn}/continue",
  access: "operate",
  summary: "Asks for the rest of an answer that was stopped or broke off.",
  params: turnParams,
  headers,
  answers,
  errors: FOLLOWED,
};

export const REPLY: Spec = {
  method: "POST",
  path: "/api/sessions/{id}/reply",
  access: "operate",
  summary: "Answers the people of a conversation on a channel by hand, in the place of the model.",
  details:
    "It is delivered as an answer of the model's is, and noted in the audit log. Messages that wait for an answer in the conversation have it with this one.",
  params,
  body: MESSAGE_BODY,
  answers: {
    202: {
      description: "The reply is in the outbox.",
      body: v.object({
        turn_id: v.string(),
        messages: v.pipe(v.array(v.string()), v.description("As GET /api/inbox/{id} takes them.")),
      }),
    },
  },
  errors: [...SESSION, "CHANNEL_UNKNOWN", "CHANNEL_CANNOT", "TURN_RUNNING", "STORE_FULL", "STORE_FAILED"],
};

export const SESSION_TURN_SPECS = [BEGIN, SEND, RETRY, EDIT, CONTINUE, REPLY];
