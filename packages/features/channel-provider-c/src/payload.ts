/** What the platform tells of a message. It has told it under several names over the years; all of them are read. */
import { hash } from "node:crypto";
import type { Inbound, Json } from "@svc/contract";
import * as v from "valibot";
import { mediaOf } from "./media-link.ts";
import { phoneOf } from "./target.ts";

/** The received message of one event; undefined if it has no message of another person. */
export function inboundOf(event: Json): Inbound | undefined {
  const { success, output: told } = v.safeParse(EVENT, event);
  if (!success || !MESSAGE_EVENTS.has(told.eventType ?? "message")) return undefined;
  if ([told.fromMe, told.from_me, told.owner].some((flag) => flag === true || flag === "true")) return undefined;

  const sender = phoneOf(told.waId ?? told.wa_id ?? told.from ?? "");
  const content = contentOf(told);
  if (sender === undefined || content.text === "") return undefined;
  const sentAtMs = timeOf(told.timestamp) ?? timeOf(told.created);
  return {
    ...identityOf(told, [sender, sentAtMs, content.text]),
    ...(told.type === "reaction" && { kind: "reaction" }),
    conversation: { channel: "provider_c", id: sender },
    sender,
    ...(told.senderName !== undefined && { senderName: told.senderName }),
    ...content,
    // Other programs ask with buttons and lists here, and ours do not: the words are theirs.
    ...(repliedOf(told) !== undefined && { secondHand: true }),
    ...(sentAtMs !== undefined && { sentAtMs }),
  };
}

/** Others tell of our own messages, or of a contact without one. */
const MESSAGE_EVENTS: ReadonlySet<string> = new Set(["message", "messageReceived"]);

type Told = v.InferOutput<typeof EVENT>;

function contentOf(told: Told): Pick<Inbound, "text" | "media"> {
  const link = told.mediaUrl ?? told.media_url ?? told.data;
  const words = told.text ?? told.message?.text ?? told.message?.body ?? repliedOf(told);
  // For a file without text the platform may put its link into the text field.
  const text = words === undefined || words === link ? [] : [words];
  const media = told.type === "text" ? undefined : mediaOf(told.type, link, told.id);
  if (media === undefined) return { text: text.join("\n") };
  return { text: [...text, media.placeholder].join("\n"), media: [media] };
}

/** The words on a button or in a list that was chosen from. */
const repliedOf = ({ buttonReply, interactiveButtonReply, listReply }: Told): string | undefined =>
  buttonReply?.text ?? interactiveButtonReply?.title ?? listReply?.title;

/** The platform's id; without one a repetition is recognised by its content, for as long as deliveries are repeated. */
function identityOf(
  { id, whatsappMessageId }: Told,
  [sender, sentAtMs, text]: readonly [string, number | undefined, string],
): Pick<Inbound, "id" | "dedupeMs"> {
  const own = id ?? whatsappMessageId;
  if (own !== undefined) return { id: own };
  // Without a time, "yes" today and "yes" tomorrow would be one.
  if (sentAtMs === undefined) return {};
  return { id: `sha256:${hash("sha256", JSON.stringify([sender, sentAtMs, text]))}`, dedupeMs: 600_000 };
}

/** Seconds, milliseconds, both as numbers or as text, or a date. */
function timeOf(at: string | number | undefined): number | undefined {
  if (at === undefined) return undefined;
  const number = typeof at === "number" || /^[0-9]{1,16}$/.test(at) ? Number(at) : undefined;
  const ms = number === undefined ? Date.parse(String(at)) : number > LAST_SECOND ? number : number * 1000;
  return ms >= 0 && ms < LAST_MS ? Math.floor(ms) : undefined;
}

/** In the year 2286, or as milliseconds in April 1970. */
const LAST_SECOND = 9_999_999_999;
const LAST_MS = LAST_SECOND * 1000;

/** An undocumented value counts as missing: one odd field must not lose a message. */
const maybe = <Schema extends v.GenericSchema>(schema: Schema) => v.fallback(v.optional(schema), undefined);

const WORD = maybe(v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(512)));
const TEXT = maybe(v.pipe(v.string(), v.trim(), v.nonEmpty()));
const LINK_TEXT = v.pipe(v.string(), v.url(), v.maxLength(8192));
const LINK = maybe(LINK_TEXT);
const FLAG = maybe(v.union([v.boolean(), v.string()]));
const TIME = maybe(v.union([v.string(), v.number()]));

const EVENT = v.object({
  eventType: WORD,
  id: WORD,
  whatsappMessageId: WORD,
  type: WORD,
  waId: WORD,
  wa_id: WORD,
  from: WORD,
  senderName: WORD,
  fromMe: FLAG,
  from_me: FLAG,
  owner: FLAG,
  timestamp: TIME,
  created: TIME,
  text: TEXT,
  message: maybe(v.object({ text: TEXT, body: TEXT })),
  buttonReply: maybe(v.object({ text: TEXT })),
  interactiveButtonReply: maybe(v.object({ title: TEXT })),
  listReply: maybe(v.object({ title: TEXT })),
  mediaUrl: LINK,
  media_url: LINK,
  data: maybe(
    v.union([
      LINK_TEXT,
      v.pipe(
        v.object({ url: LINK_TEXT }),
        v.transform(({ url }) => url),
      ),
    ]),
  ),
});
