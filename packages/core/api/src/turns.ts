/** Messages to conversations, and turns that are tried again. */
import * as v from "valibot";
import { FileIds } from "./files.ts";
import { IdempotencyKey, SessionId, WebhookMessage } from "./webhook.ts";
import { name, type Output } from "./schema.ts";

const words = v.exactOptional(
  v.pipe(v.string(), v.description("Message for the agent; may be blank or left out when there are files.")),
);

/** A message and what comes with it. It is blank only when there are files. */
export const SentMessage = v.object({ message: words, files: FileIds });
export type SentMessage = Output<typeof SentMessage>;

/** One that begins a conversation, or goes on with one by its name. */
export const FirstMessage = v.object({ ...SentMessage.entries, session_id: v.exactOptional(SessionId) });
export type FirstMessage = Output<typeof FirstMessage>;

/** A message that is on disk; its answer comes by the events. */
export const MessageAccepted = v.object({
  id: name("The conversation's id."),
  session_id: name("The owner's name for it (X-Session-Id)."),
  turn_id: v.string(),
  state: v.pipe(
    v.picklist(["running", "waiting"]),
    v.description("waiting: another turn of the conversation is before it."),
  ),
});
export type MessageAccepted = Output<typeof MessageAccepted>;

/** The answer to a command such as /status. */
export const CommandAnswer = v.object({ session_id: v.string(), turn_id: v.string(), response: v.string() });
export type CommandAnswer = Output<typeof CommandAnswer>;

export const ReplyByHand = v.object({ message: WebhookMessage.entries.message });
export type ReplyByHand = Output<typeof ReplyByHand>;

export const ReplyByHandAccepted = v.object({
  turn_id: v.string(),
  messages: v.pipe(v.array(v.string()), v.description("As GET /api/inbox/{id} takes them.")),
});
export type ReplyByHandAccepted = Output<typeof ReplyByHandAccepted>;

export const TurnHeaders = { "X-Idempotency-Key": v.optional(IdempotencyKey) };
