/**
 * A delivery, which may hold several messages of several people, and statuses of what we sent.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages
 */
import type { DeliveryUpdate, Inbound, InboundMedia, Json, Logger, MediaKind, Parsed } from "@svc/contract";
import { failureOf } from "./graph.ts";
import {
  CHANNEL,
  type Fields,
  fieldsOf,
  isGroupId,
  listOf,
  numberOf,
  phoneOf,
  textOf,
  userIdOf,
  wordOf,
} from "./protocol.ts";

/** Accepts any JSON: an unknown shape yields no messages. */
export function deliveryReader(
  phoneNumberId: string,
  isAllowed: (sender: string) => boolean,
  log: Logger,
): (payload: Json, receivedAtMs: number) => Parsed {
  const isOurs = ownValues(phoneNumberId, log);
  return (payload, receivedAtMs) => {
    const inbound: Inbound[] = [];
    const updates: DeliveryUpdate[] = [];
    for (const value of valuesOf(payload)) {
      if (!isOurs(value)) continue;
      const nameOf = contactNames(value["contacts"]);
      for (const entry of listOf(value["messages"])) {
        const message = inboundOf(fieldsOf(entry), nameOf, receivedAtMs);
        if (message !== undefined && isAllowed(message.sender)) inbound.push(message);
      }
      for (const entry of listOf(value["statuses"])) {
        const update = updateOf(fieldsOf(entry));
        if (update !== undefined) updates.push(update);
      }
    }
    return { inbound, updates };
  };
}

function valuesOf(payload: Json): Fields[] {
  const values: Fields[] = [];
  for (const entry of listOf(fieldsOf(payload)["entry"])) {
    for (const change of listOf(fieldsOf(entry)["changes"])) values.push(fieldsOf(fieldsOf(change)["value"]));
  }
  return values;
}

/** One app may have several numbers, and one callback URL for all of them. Told once, as it may be a mistake in the config. */
function ownValues(phoneNumberId: string, log: Logger): (value: Fields) => boolean {
  let isTold = false;
  return (value) => {
    const id = textOf(fieldsOf(value["metadata"])["phone_number_id"]);
    if (id === undefined || id === phoneNumberId) return true;
    if (!isTold && listOf(value["messages"]).length > 0) {
      isTold = true;
      log.info("a message to another number than phone_number_id is not answered", { channel: CHANNEL });
    }
    return false;
  };
}

// One message of a delivery.

/** What `send` is handed back with the answer. */
export interface ReplyData {
  /** The message that is answered. */
  readonly messageId: string;
  /** The earlier message that it quoted, or reacted to. */
  readonly contextId: string;
}

/** Undefined for a kind that no one can answer, and for one without a sender. */
function inboundOf(message: Fields, nameOf: NameOf, receivedAtMs: number): Inbound | undefined {
  const sender = senderOf(message);
  const content = contentOf(message);
  if (sender === undefined || content === undefined) return undefined;
  const groupId = textOf(message["group_id"]);
  // It names the conversation wherever that is kept: one of a megabyte would be kept a dozen times, and no one could answer.
  if (groupId !== undefined && !isGroupId(groupId)) return undefined;
  const { contextId, kind, text, media, choice, secondHand } = content;
  // Field by field: to spread objects that are there or not takes longer than all else here.
  const inbound: { -readonly [Name in keyof Inbound]: Inbound[Name] } = {
    text,
    conversation: { channel: CHANNEL, id: groupId ?? sender },
    sender,
    sentAtMs: timeOf(message["timestamp"]) ?? receivedAtMs,
  };
  if (kind !== undefined) inbound.kind = kind;
  if (media !== undefined) inbound.media = media;
  if (choice !== undefined) inbound.choice = choice;
  const id = wordOf(message["id"]);
  if (id !== undefined) inbound.id = id;
  const name = nameOf(message);
  if (name !== undefined) inbound.senderName = name;
  if (groupId !== undefined) inbound.group = true;
  const context = fieldsOf(message["context"]);
  const isForwarded = context["forwarded"] === true || context["frequently_forwarded"] === true;
  if (isForwarded || secondHand === true) inbound.secondHand = true;
  const repliesTo = wordOf(context["id"]);
  if (repliesTo !== undefined) inbound.repliesTo = repliesTo;
  const quoted = contextId ?? repliesTo;
  if (id !== undefined && quoted !== undefined) {
    inbound.replyData = { messageId: id, contextId: quoted } satisfies ReplyData;
  }
  return inbound;
}

/** The phone number if the message has one, because answers to a number come from that number. */
function senderOf({ from, from_user_id: userId }: Fields): string | undefined {
  return phoneOf(textOf(from) ?? "") ?? userIdOf(textOf(userId) ?? "");
}

/** Seconds, as text. Beyond what a date can hold it is no time. */
function timeOf(timestamp: Json | undefined): number | undefined {
  const text = typeof timestamp === "number" ? String(timestamp) : textOf(timestamp);
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) * 1000 : undefined;
}

/**
 * What a message says, by its type.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages
 */
export interface Content extends Pick<Inbound, "kind" | "text" | "media" | "choice" | "secondHand"> {
  /** The message that it is about. */
  readonly contextId?: string;
}

/** Undefined for types that say nothing to an agent: contacts, orders, system notes, what the platform can't show. */
function contentOf(message: Fields): Content | undefined {
  // A text without its type is still a text.
  const type = message["type"] ?? (message["text"] === undefined ? undefined : "text");
  const read = typeof type === "string" && Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  return read?.(fieldsOf(message[type as string]));
}

const READERS: Readonly<Record<string, (content: Fields) => Content | undefined>> = {
  text: ({ body }) => saying(textOf(body)),
  image: (content) => mediaOf("image", content),
  audio: (content) => mediaOf("audio", content),
  video: (content) => mediaOf("video", content),
  document: (content) => mediaOf("document", content),
  sticker: (content) => mediaOf("sticker", content),
  location: (content) => saying(placeOf(content)),
  interactive: (content) => chosen(content),
  button: ({ text, payload }) => picked(textOf(text) ?? textOf(payload)),
  // Taken back, it comes without the emoji.
  reaction: ({ emoji, message_id: id }) => ({
    kind: "reaction",
    text: textOf(emoji) ?? "",
    ...(wordOf(id) !== undefined && { contextId: id as string }),
  }),
};

const saying = (text: string | undefined): Content | undefined => (text === undefined ? undefined : { text });

/** Words that another program put on a button or into a list. */
const picked = (text: string | undefined): Content | undefined =>
  text === undefined ? undefined : { text, secondHand: true };

function mediaOf(kind: MediaKind, { id, mime_type: mimeType, caption, filename }: Fields): Content | undefined {
  const ref = wordOf(id);
  if (ref === undefined) return undefined;
  const type = typeOf(mimeType);
  const fileName = wordOf(filename);
  const placeholder = `[${kind}]`;
  const media: InboundMedia = {
    kind,
    ref,
    placeholder,
    ...(type !== undefined && { mimeType: type }),
    ...(fileName !== undefined && { fileName }),
  };
  const said = textOf(caption);
  return { text: said === undefined ? placeholder : `${placeholder}\n${said}`, media: [media] };
}

/** Without parameters: `audio/ogg; codecs=opus`. */
export function typeOf(mimeType: Json | undefined): string | undefined {
  const type = textOf(mimeType)?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type) ? type : undefined;
}

function placeOf({ latitude, longitude, name, address, url }: Fields): string | undefined {
  const [lat, long] = [numberOf(latitude), numberOf(longitude)];
  if (lat === undefined || long === undefined) return undefined;
  const words = [name, address, url].map(textOf).filter((word) => word !== undefined);
  return [`Location: ${lat}, ${long}`, ...words].join("\n");
}

function chosen(content: Fields): Content | undefined {
  const text = choiceOf(content);
  const choice = choiceOfButton(fieldsOf(content["button_reply"]));
  return text !== undefined && choice ? { text, choice } : picked(text);
}

/** The title is what the person saw and chose; a form is answered with JSON. */
function choiceOf({ button_reply: button, list_reply: row, nfm_reply: form }: Fields): string | undefined {
  for (const chosen of [button, row].map(fieldsOf)) {
    const title = textOf(chosen["title"]) ?? textOf(chosen["id"]);
    if (title !== undefined) return title;
  }
  const { response_json: answers, body } = fieldsOf(form);
  return textOf(answers) ?? textOf(body);
}

// The people a delivery tells of.

/** Name of who wrote a message. */
type NameOf = (message: Fields) => string | undefined;

/** A map, because searching all contacts for each message in a megabyte of both blocked the event loop for seconds. */
export function contactNames(list: Json | undefined): NameOf {
  const contacts = listOf(list).map(fieldsOf);
  // The only contact is the sender's, even where its id differs from the number, as in some countries.
  if (contacts.length === 1) return () => nameOfContact(contacts[0]);
  const byNumber = firstBy(contacts, "wa_id");
  const byUserId = firstBy(contacts, "user_id");
  return ({ from, from_user_id: userId }) => nameOfContact(byNumber.get(from) ?? byUserId.get(userId));
}

function nameOfContact(contact: Fields | undefined): string | undefined {
  const { name, username } = fieldsOf(contact?.["profile"]);
  return wordOf(name) ?? wordOf(username);
}

function firstBy(contacts: readonly Fields[], key: string): ReadonlyMap<Json | undefined, Fields> {
  const found = new Map<Json | undefined, Fields>();
  for (const contact of contacts) {
    const id = contact[key];
    if (id !== undefined && !found.has(id)) found.set(id, contact);
  }
  return found;
}

/**
 * What became of messages that we sent.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status
 */
function updateOf({ id, status, errors }: Fields): DeliveryUpdate | undefined {
  const platformId = wordOf(id);
  const known = STATUSES.get(textOf(status) ?? "");
  if (platformId === undefined || known === undefined) return undefined;
  return { platformId, status: known, ...(known === "failed" && { reason: failureOf(listOf(errors)) }) };
}

/** `played`: a voice message that was listened to. */
const STATUSES: ReadonlyMap<string, DeliveryUpdate["status"]> = new Map([
  ["sent", "sent"],
  ["delivered", "delivered"],
  ["read", "read"],
  ["played", "read"],
  ["failed", "failed"],
]);

/** The id of a button below a question; the platform sends it back with a press. */
export const buttonId = (promptId: string, isApproval: boolean): string =>
  `${ID_START}${promptId}:${isApproval ? "yes" : "no"}`;

const ID_START = "svc-prompt:";
const BUTTON_ID = new RegExp(`^${ID_START}([a-z0-9-]{1,32}):(yes|no)$`);

/** Undefined for a button that this channel did not make. */
function choiceOfButton({ id }: Fields): Inbound["choice"] {
  const [, prompt, answer] = BUTTON_ID.exec(wordOf(id) ?? "") ?? [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "yes" };
}
