/**
 * A message, as an event or as history tells it.
 * https://docs.slack.dev/reference/events/message, https://docs.slack.dev/reference/events/app_mention
 */
import type { Conversation, Inbound, Json } from "@svc/contract";
import { type Fields, fieldsOf, listOf, textOf, wordOf } from "../fields.ts";
import { CHANNEL, conversationId, messageIdOf, msOf, timestamp, userId } from "../ids.ts";
import { decoded, mentions, withoutMention } from "./decode.ts";
import { filesOf } from "./files.ts";
import type { Told } from "./told.ts";

/** Kinds of messages that people write; all others tell of something. */
const WRITTEN: ReadonlySet<unknown> = new Set([undefined, "file_share", "thread_broadcast", "me_message"]);

/** Undefined for what nobody wrote to us. `bot`: our user id. */
export function messageOf(event: Fields, bot: string | undefined, told: Told): Inbound | undefined {
  const channel = conversationId(event["channel"]);
  const ts = timestamp(event["ts"]);
  const sender = userId(event["user"]);
  if (channel === undefined || ts === undefined || sender === undefined) return undefined;
  // Ours, and those of other bots, who would answer each other for ever.
  const isWritten = WRITTEN.has(event["subtype"]) && event["bot_id"] === undefined && event["hidden"] !== true;
  if (!isWritten || sender === bot) return undefined;
  const place = placeOf(event, channel, ts, told);
  if (!isMeant(event, place, bot, told) || !told.mayWrite(sender)) return undefined;
  const { text, media } = saidIn(event, bot, told);
  if (text.trim() === "") return undefined;
  const name = nameOf(event, told, sender);
  return {
    id: messageIdOf({ channel, ts }),
    conversation: place.conversation,
    sender,
    ...(name !== undefined && { senderName: name }),
    ...(place.kind !== "im" && { group: true }),
    text,
    ...(media.length > 0 && { media }),
    sentAtMs: msOf(ts),
  };
}

interface Place {
  readonly kind: "im" | "mpim" | "channel";
  readonly conversation: Conversation;
  /** The thread that it was written in. */
  readonly thread: string | undefined;
}

function placeOf(event: Fields, channel: string, ts: string, { config }: Told): Place {
  const kind = kindOf(event["channel_type"], channel);
  const parent = timestamp(event["thread_ts"]);
  const thread = parent === ts ? undefined : parent;
  const opens = kind === "channel" && config.thread_replies ? ts : undefined;
  return { kind, thread, conversation: conversationIn(channel, thread ?? opens) };
}

export const conversationIn = (channel: string, thread: string | undefined): Conversation => ({
  channel: CHANNEL,
  id: channel,
  ...(thread !== undefined && { thread }),
});

/** A mention does not say where it was; those of direct messages are no mentions. */
function kindOf(type: Json | undefined, channel: string): Place["kind"] {
  if (type === "im" || channel.startsWith("D")) return "im";
  return type === "mpim" ? "mpim" : "channel";
}

function isMeant(event: Fields, { kind, thread, conversation }: Place, bot: string | undefined, told: Told): boolean {
  if (kind !== "channel" || !told.config.mention_only) return true;
  if (event["type"] === "app_mention" || mentions(textOf(event["text"]) ?? "", bot)) return true;
  if (thread === undefined) return false;
  return (
    (bot !== undefined && event["parent_user_id"] === bot) || told.threads.has({ channel: conversation.id, ts: thread })
  );
}

function saidIn(
  event: Fields,
  bot: string | undefined,
  { people, self }: Told,
): Pick<Inbound, "text"> & Required<Pick<Inbound, "media">> {
  const nameOf = (user: string): string | undefined => (user === bot ? self.name : people.nameOf(user));
  const { media, lines } = filesOf(event["files"]);
  const said = decoded(withoutMention(textOf(event["text"]) ?? "", bot), nameOf);
  const parts = [...lines, said, ...forwarded(event, nameOf)].filter((part) => part.trim() !== "");
  return { text: parts.join("\n"), media };
}

/** Messages that were passed on: what a person wants to be read. */
function forwarded(event: Fields, nameOf: (user: string) => string | undefined): string[] {
  return listOf(event["attachments"])
    .map(fieldsOf)
    .filter(({ is_share: isShare }) => isShare === true)
    .flatMap(({ text, author_name: author }) => {
      const said = decoded(textOf(text) ?? "", nameOf).trim();
      const who = wordOf(author);
      return said === "" ? [] : [`[forwarded${who === undefined ? "" : `, by ${who}`}]\n${said}`];
    });
}

function nameOf({ user_profile: profile }: Fields, { people }: Told, sender: string): string | undefined {
  const { display_name: shown, real_name: real } = fieldsOf(profile);
  const known = people.nameOf(sender) ?? wordOf(shown) ?? wordOf(real);
  if (known === undefined) people.want(sender);
  return known;
}
