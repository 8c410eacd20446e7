/** https://docs.slack.dev/reference/events/reaction_added, https://docs.slack.dev/reference/events/reaction_removed */
import type { Inbound } from "@svc/contract";
import { type Fields, fieldsOf, wordOf } from "../fields.ts";
import { conversationId, messageIdOf, msOf, timestamp, userId } from "../ids.ts";
import { conversationIn } from "./message.ts";
import type { Told } from "./told.ts";

/** Taken back, it comes without the emoji. */
export function reactionOf(event: Fields, bot: string | undefined, { mayWrite }: Told): Inbound | undefined {
  const item = fieldsOf(event["item"]);
  const channel = conversationId(item["channel"]);
  const ts = timestamp(item["ts"]);
  const sender = userId(event["user"]);
  const atTs = timestamp(event["event_ts"]);
  const emoji = wordOf(event["reaction"]);
  if (channel === undefined || ts === undefined || sender === undefined || emoji === undefined) return undefined;
  if (item["type"] !== "message" || sender === bot || !mayWrite(sender)) return undefined;
  const what = `${messageIdOf({ channel, ts })}:${sender}:${emoji}`;
  return {
    kind: "reaction",
    // Given, taken back and given again are three.
    ...(atTs !== undefined && { id: `${String(event["type"])}:${what}:${atTs}` }),
    conversation: conversationIn(channel, undefined),
    sender,
    text: event["type"] === "reaction_removed" ? "" : `:${emoji}:`,
    ...(atTs !== undefined && { sentAtMs: msOf(atTs) }),
  };
}
