/**
 * Sending. A text and one picture, film or document are one message; more become several, and a retry goes on where the
 * last try stopped, so that no one reads the beginning twice.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/send-messages
 */
import {
  type Channel,
  type Conversation,
  type Json,
  type MediaKind,
  type OutgoingMessage,
  type Prompt,
  type Prompts,
  type Receipt,
  SvcError,
} from "@svc/contract";
import type { SentParts, SentPartsOf } from "@svc/kit";
import { type UploadedFile, uploadFile } from "./files.ts";
import { buttonId } from "./delivery.ts";
import type { GraphApi } from "./graph.ts";
import { type Fields, PRODUCT, fieldsOf, isGroupId, listOf, phoneOf, recipientOf, textOf } from "./protocol.ts";

export const TEXT_CHARS = 4096;
const CAPTION_CHARS = 1024;
const CAPTIONED: ReadonlySet<MediaKind> = new Set(["image", "video", "document"]);

export function messageSender(graph: GraphApi, phoneNumberId: string, sentParts: SentPartsOf): Channel["send"] {
  return async (message, signal) => {
    signal.throwIfAborted();
    const common = commonFields(message);
    const sent = await sentParts(message.deliveryId);
    const { uploads, refusal } = await uploadAll(graph, phoneNumberId, message, sent, signal);
    const parts = partsOf(message.text, uploads, refusal === undefined, sent);
    let { platformId } = sent;
    let opened: Receipt["opened"];
    for (const [place, { part, content }] of parts.entries()) {
      const answer = await graph.post(`${phoneNumberId}/messages`, { ...common, ...content }, signal);
      const receipt = receiptOf(answer, message.conversation);
      platformId ??= receipt.platformId;
      opened ??= receipt.opened;
      // The last one is the end of the delivery, which is kept anyway.
      if (place < parts.length - 1 || refusal !== undefined) await sent.add(part, receipt.platformId);
    }
    if (refusal !== undefined) throw refusal;
    sent.end();
    return { ...(platformId !== undefined && { platformId }), ...(opened && { opened }) };
  };
}

function commonFields({ conversation, replyData, deliveryId }: OutgoingMessage): Record<string, Json> {
  // Set only if the sender quoted an earlier message, and so reads elsewhere in the chat. Otherwise the answer follows its message.
  const answered = textOf(fieldsOf(replyData)["messageId"]);
  return {
    messaging_product: PRODUCT,
    ...recipientOf(conversation.id),
    ...(answered !== undefined && { context: { message_id: answered } }),
    // Comes back in the statuses: tells a retry from another message of the same words.
    biz_opaque_callback_data: deliveryId,
  };
}

interface Uploads {
  /** With the places that the files have in the message. */
  readonly uploads: readonly (readonly [place: number, file: UploadedFile])[];
  /** Why one of them can't be sent. What can is sent all the same. */
  readonly refusal: SvcError | undefined;
}

/** All of them before anything is to be seen: a try that fails here has sent nothing. */
async function uploadAll(
  graph: GraphApi,
  phoneNumberId: string,
  { files = [] }: OutgoingMessage,
  sent: SentParts,
  signal: AbortSignal,
): Promise<Uploads> {
  const uploads: (readonly [number, UploadedFile])[] = [];
  let refusal: SvcError | undefined;
  for (const [place, file] of files.entries()) {
    if (sent.has(`file ${place}`)) continue;
    try {
      uploads.push([place, await uploadFile(graph, phoneNumberId, file, signal)]);
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
      refusal ??= error;
    }
  }
  return { uploads, refusal };
}

interface Part {
  readonly part: string;
  readonly content: Record<string, Json>;
}

function partsOf(text: string, uploads: Uploads["uploads"], isWhole: boolean, sent: SentParts): Part[] {
  const said = text.trim() === "" || sent.has("text") ? undefined : text;
  const [first] = uploads;
  const isCaption = isWhole && uploads.length === 1 && CAPTIONED.has(first![1].kind);
  if (said !== undefined && isCaption && said.length <= CAPTION_CHARS) return [filePart(first!, said)];
  return [...(said === undefined ? [] : [textPart(said)]), ...uploads.map((upload) => filePart(upload))];
}

const textPart = (body: string): Part => ({
  part: "text",
  // No previews: the platform fetches them at once, so a URL from an injected prompt would leak data without a click.
  content: { type: "text", text: { preview_url: false, body } },
});

function filePart([place, { kind, name, id }]: Uploads["uploads"][number], caption?: string): Part {
  const file = { id, ...(kind === "document" && { filename: name }), ...(caption !== undefined && { caption }) };
  return { part: `file ${place}`, content: { type: kind, [kind]: file } };
}

// What the platform answers to a message that it took.

/**
 * An answer without a usable id still means accepted. It names the number that replies will come from: for some countries the
 * platform uses another form of a number than people write.
 */
export function receiptOf({ messages, contacts }: Fields, { channel, id }: Conversation): Receipt {
  const platformId = textOf(fieldsOf(listOf(messages)[0])["id"]);
  const known = textOf(fieldsOf(listOf(contacts)[0])["wa_id"]) ?? "";
  const phone = recipientOf(id).recipient_type === "group" ? undefined : phoneOf(known);
  return {
    ...(platformId !== undefined && { platformId }),
    ...(phone !== undefined && phone !== id && { opened: { channel, id: phone } }),
  };
}

// Questions with reply buttons. The platform can't remove buttons: a press on a settled question gets an answer that says so.
// https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/interactive-reply-buttons-messages

const BODY_CHARS = 1024;
const TITLE_CHARS = 20;

/** `send`: for a question without room for buttons, and for groups, which have none. */
export function promptPoster(graph: GraphApi, phoneNumberId: string, send: Channel["send"]): Prompts {
  return {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      // The words, with who asks and by which number: there is nothing else around a title that a stranger may have chosen.
      const { text } = message;
      if (!hasRoom(text, prompt) || isInGroup(message.conversation.id)) return send(message, signal);
      const content = { type: "interactive", interactive: buttonsOf(text, prompt) };
      const answer = await graph.post(`${phoneNumberId}/messages`, { ...commonFields(message), ...content }, signal);
      return receiptOf(answer, message.conversation);
    },
  };
}

function hasRoom(body: string, { approve, reject }: Prompt): boolean {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= TITLE_CHARS;
  // Two buttons of one title are refused.
  return body.length <= BODY_CHARS && fits(approve) && fits(reject) && approve !== reject;
}

/** A number of twenty digits is long enough for a group's id. */
const isInGroup = (id: string): boolean => isGroupId(id) && !/^\+?\d+$/.test(id);

const buttonsOf = (text: string, { id, approve, reject }: Prompt): Json => ({
  type: "button",
  body: { text },
  action: {
    buttons: [
      { type: "reply", reply: { id: buttonId(id, true), title: approve } },
      { type: "reply", reply: { id: buttonId(id, false), title: reject } },
    ],
  },
});
