/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
import type { Inbound } from "@svc/contract";
import { choiceOf } from "../choice.ts";
import { type Fields, fieldsOf, listOf, wordOf } from "../fields.ts";
import { conversationId, messageIdOf, msOf, timestamp, userId } from "../ids.ts";
import { conversationIn } from "./message.ts";
import type { Told } from "./told.ts";

/** Undefined for a press on anything but a button of a question of ours. */
export function pressOf(payload: Fields, { config, mayWrite }: Told): Inbound | undefined {
  const action = fieldsOf(listOf(payload["actions"])[0]);
  const message = fieldsOf(payload["message"]);
  const container = fieldsOf(payload["container"]);
  const choice = choiceOf(action["value"]);
  const label = wordOf(fieldsOf(action["text"])["text"]);
  const sender = userId(fieldsOf(payload["user"])["id"]);
  const channel = conversationId(fieldsOf(payload["channel"])["id"]) ?? conversationId(container["channel_id"]);
  const ts = timestamp(message["ts"]) ?? timestamp(container["message_ts"]);
  if (choice === undefined || label === undefined || sender === undefined) return undefined;
  if (channel === undefined || ts === undefined || !mayWrite(sender)) return undefined;
  const parent = timestamp(message["thread_ts"]) ?? timestamp(container["thread_ts"]);
  // A question in a channel has opened a thread.
  const opened = config.thread_replies && !channel.startsWith("D") ? ts : undefined;
  const atTs = timestamp(action["action_ts"]);
  return {
    ...(atTs !== undefined && { id: `press:${messageIdOf({ channel, ts })}:${sender}:${atTs}` }),
    conversation: conversationIn(channel, parent ?? opened),
    sender,
    text: label,
    choice,
    ...(atTs !== undefined && { sentAtMs: msOf(atTs) }),
  };
}
