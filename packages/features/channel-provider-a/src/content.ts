/**
 * What a message says, by its type.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages
 */
import type { Inbound, InboundMedia, Json, MediaKind } from "@svc/contract";
import { type Fields, fieldsOf, numberOf, textOf, wordOf } from "./fields.ts";
import { choiceOfButton } from "./prompts.ts";

export interface Content extends Pick<Inbound, "kind" | "text" | "media" | "choice" | "secondHand"> {
  /** The message that it is about. */
  readonly contextId?: string;
}

/** Undefined for types that say nothing to an agent: contacts, orders, system notes, what the platform can't show. */
export function contentOf(message: Fields): Content | undefined {
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
