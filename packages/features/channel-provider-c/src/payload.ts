/** What the platform tells of a message. It has told it under several names over the years; all of them are read. */
import { hash } from "node:crypto";
import { type Inbound, type InboundMedia, type Json, type MediaKind, SvcError } from "@svc/contract";
import * as v from "valibot";
import { pathPart } from "@svc/kit";

/** The received message of one event; undefined if it has no message of another person. */
export function inboundOf(event: Json): Inbound | undefined {
  const { success, output: received } = v.safeParse(EVENT, event);
  if (!success || !MESSAGE_EVENTS.has(received.eventType ?? "message")) return undefined;
  if ([received.fromMe, received.from_me, received.owner].some((flag) => flag === true || flag === "true"))
    return undefined;

  const sender = phoneOf(received.waId ?? received.wa_id ?? received.from ?? "");
  const content = contentOf(received);
  if (sender === undefined || content.text === "") return undefined;
  const sentAtMs = timeOf(received.timestamp) ?? timeOf(received.created);
  return {
    ...identityOf(received, [sender, sentAtMs, content.text]),
    ...(received.type === "reaction" && { kind: "reaction" }),
    conversation: { channel: "provider_c", id: sender },
    sender,
    ...(received.senderName !== undefined && { senderName: received.senderName }),
    ...content,
    // Other programs ask with buttons and lists here, and ours do not: the words are theirs.
    ...(repliedOf(received) !== undefined && { secondHand: true }),
    ...(sentAtMs !== undefined && { sentAtMs }),
  };
}

/** Others tell of our own messages, or of a contact without one. */
const MESSAGE_EVENTS: ReadonlySet<string> = new Set(["message", "messageReceived"]);

type ReceivedEvent = v.InferOutput<typeof EVENT>;

function contentOf(received: ReceivedEvent): Pick<Inbound, "text" | "media"> {
  const link = received.mediaUrl ?? received.media_url ?? received.data;
  const words = received.text ?? received.message?.text ?? received.message?.body ?? repliedOf(received);
  // For a file without text the platform may put its link into the text field.
  const text = words === undefined || words === link ? [] : [words];
  const media = received.type === "text" ? undefined : mediaOf(received.type, link, received.id);
  if (media === undefined) return { text: text.join("\n") };
  return { text: [...text, media.placeholder].join("\n"), media: [media] };
}

/** The words on a button or in a list that was chosen from. */
const repliedOf = ({ buttonReply, interactiveButtonReply, listReply }: ReceivedEvent): string | undefined =>
  buttonReply?.text ?? interactiveButtonReply?.title ?? listReply?.title;

/** The platform's id; without one a repetition is recognised by its content, for as long as deliveries are repeated. */
function identityOf(
  { id, whatsappMessageId }: ReceivedEvent,
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

// Files are fetched with our token, so only from the platform's own host, even if a delivery names another.

/** Judged by the parsed URL: `https://platform@elsewhere` begins like one of the platform's. */
export function isOwnFile(apiUrl: string, link: string): boolean {
  if (!URL.canParse(link)) return false;
  const [api, file] = [new URL(apiUrl), new URL(link)];
  const isSafe = file.protocol === "https:" || (file.protocol === api.protocol && isLoopback(api.hostname));
  const isAnonymous = file.username === "" && file.password === "";
  return isSafe && isAnonymous && file.hostname === api.hostname && portOf(file) === portOf(api);
}

const portOf = ({ protocol, port }: URL): string => port || (protocol === "https:" ? "443" : "80");

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.[0-9]+\.[0-9]+\.[0-9]+$/.test(host);

/**
 * The file of a message of this type: by its link, else by the message's id, under which the platform has it too.
 * Undefined: the message has no file.
 */
function mediaOf(
  type: string | undefined,
  link: string | undefined,
  messageId: string | undefined,
): InboundMedia | undefined {
  const kind = KINDS.get(type ?? "") ?? (link === undefined ? undefined : "document");
  const ref = link ?? (messageId === undefined ? undefined : `${BY_MESSAGE}${messageId}`);
  if (kind === undefined || ref === undefined) return undefined;
  const fileName = link === undefined ? undefined : fileNameOf(link);
  return { kind, ref, placeholder: `[${kind.toUpperCase()}:${ref}]`, ...(fileName !== undefined && { fileName }) };
}

/** https://docs.wati.io/reference/conversations_getmediafilebymessageid */
export function addressOf(apiUrl: string, ref: string): string {
  if (!ref.startsWith(BY_MESSAGE)) return ref;
  return `${apiUrl}/api/ext/v3/conversations/messages/file/${pathPart(ref.slice(BY_MESSAGE.length), "MEDIA_REFUSED")}`;
}

const BY_MESSAGE = "message:";

/** By the type as it came: a plain object would know a "constructor". */
const KINDS: ReadonlyMap<string, MediaKind> = new Map([
  ["image", "image"],
  ["audio", "audio"],
  ["voice", "audio"],
  ["video", "video"],
  ["document", "document"],
  ["sticker", "sticker"],
]);

/** Links are `…/showFile?fileName=data/images/<id>.jpg`, or end with the name. */
function fileNameOf(link: string): string | undefined {
  const { searchParams, pathname } = new URL(link);
  const name = (searchParams.get("fileName") ?? pathname).split("/").at(-1);
  return name !== undefined && /^[^\p{Cc}]{1,200}\.[A-Za-z0-9]{1,8}$/u.test(name) ? name : undefined;
}

// Whom an answer goes to: `[line:]digits`.

/** With the `+`, which the platform omits; undefined for an invalid phone number. */
export const phoneOf = (text: string): string | undefined =>
  /^\+?[0-9][0-9 ().-]*$/.test(text) ? `+${text.replaceAll(/[^0-9]/g, "")}` : undefined;

/** In the form of a received message; undefined for an invalid phone number. */
export const recipientOf = (tenantId: string | undefined, recipient: string): string | undefined =>
  phoneOf(recipient.startsWith(prefixOf(tenantId)) ? recipient.slice(prefixOf(tenantId).length) : recipient);

/** Throws DELIVERY_REFUSED. */
export function targetOf(tenantId: string | undefined, recipient: string): string {
  const phone = recipientOf(tenantId, recipient);
  if (phone !== undefined) return `${prefixOf(tenantId)}${phone.slice(1)}`;
  throw new SvcError("DELIVERY_REFUSED", "The recipient is not a phone number.", {
    hint: "Write it with the country code, like +15550001234.",
  });
}

const prefixOf = (tenantId: string | undefined): string => (tenantId === undefined ? "" : `${tenantId}:`);
