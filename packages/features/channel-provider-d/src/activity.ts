/** ActivityStreams 2.0, as the server has sent it from its first version with bots on. */
import type { Inbound, Json } from "@svc/contract";
import * as v from "valibot";
import { anyId, anyText, anyWord, isOwnName, numberOf, senderOf, type Surroundings } from "./fields.ts";
import { replyDataOf } from "./reply-target.ts";
import { contentOf, hasAttachment, renderText, type Rendered } from "./rich-text.ts";

const person = v.object({
  type: anyText,
  /** `users/ada`, `guests/<hash>`, `bots/bot-<hash>`. */
  id: v.pipe(v.string(), v.maxLength(512), v.regex(/^[a-z_]+\/.*\S/s)),
  name: anyWord,
});

const note = v.object({ type: v.literal("Note"), id: anyId, name: anyText, content: anyText });

const activity = v.object({
  type: v.picklist(["Create", "Activity", "Like"]),
  actor: person,
  object: v.object({
    ...note.entries,
    inReplyTo: v.fallback(v.optional(v.object({ actor: v.object({ name: anyText }), object: note })), undefined),
  }),
  target: v.object({ id: anyId }),
  /** The emoji of a `Like`. */
  content: anyText,
});
type Activity = v.InferOutput<typeof activity>;

export function inboundOfActivity(payload: Json, surroundings: Surroundings): Inbound | undefined {
  const parsed = v.safeParse(activity, payload);
  if (!parsed.success) return undefined;
  const { actor } = parsed.output;
  const [kind, id] = splitOnce(actor.id);
  if (kind === "bots" || actor.type === "Application" || isOwnName(actor.name, surroundings.botName)) return undefined;
  const from = { sender: senderOf(kind, id), ...(actor.name !== "" && { senderName: actor.name }) };
  return parsed.output.type === "Like"
    ? reactionOf(parsed.output, from, surroundings)
    : messageOf(parsed.output, from, surroundings);
}

type From = Pick<Inbound, "sender" | "senderName">;

function messageOf({ type, object, target }: Activity, from: From, surroundings: Surroundings): Inbound | undefined {
  const content = contentOf(object.content);
  if (type === "Activity" && !isShare(object.name, content)) return undefined;
  const { text, media } = renderText(content, surroundings.baseUrl);
  if (text.trim() === "") return undefined;
  const number = numberOf(object.id);
  const replyData = replyDataOf(number);
  return {
    id: object.id,
    ...(number !== undefined && { sequence: number }),
    conversation: { channel: surroundings.channel, id: target.id },
    ...from,
    // A delivery does not say how many people are in the room.
    group: true,
    text: `${quoteOf(object, surroundings)}${text}`,
    ...(media.length > 0 && { media }),
    ...(replyData !== undefined && { replyData }),
  };
}

/**
 * What people share is a system message to the server. It told the name of the kind from Talk 23 on as "message", before
 * that as a blank; every other system message has its own name.
 */
const isShare = (name: string, content: ReturnType<typeof contentOf>): boolean =>
  ["", "message", "file_shared", "object_shared"].includes(name) && hasAttachment(content);

const MAX_QUOTE_CHARS = 1000;

/** The message that this one quotes, in front of it: it may be another bot's, or of a time before this conversation. */
function quoteOf({ inReplyTo }: Activity["object"], { baseUrl }: Surroundings): string {
  if (inReplyTo === undefined) return "";
  const { text }: Rendered = renderText(contentOf(inReplyTo.object.content), baseUrl);
  if (text.trim() === "") return "";
  const short = text.length > MAX_QUOTE_CHARS ? `${text.slice(0, MAX_QUOTE_CHARS).toWellFormed()}…` : text;
  const quoted = `${inReplyTo.actor.name || "Someone"}: ${short}`.split("\n").map((line) => `> ${line}`);
  return `${quoted.join("\n")}\n\n`;
}

function reactionOf({ object, target, actor, content }: Activity, from: From, { channel }: Surroundings): Inbound {
  return {
    kind: "reaction",
    id: `like:${object.id}:${actor.id}:${content}`.slice(0, 200),
    conversation: { channel, id: target.id },
    ...from,
    group: true,
    text: content,
  };
}

function splitOnce(id: string): [kind: string, id: string] {
  const at = id.indexOf("/");
  return [id.slice(0, at), id.slice(at + 1)];
}
