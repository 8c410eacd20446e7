/**
 * Sending. A message's id is derived from its delivery's, so that a retry arrives once; it counts as sent when the platform
 * confirms it. A text and one picture, video or document are one message; more become several.
 */
import { createHash } from "node:crypto";
import { type Channel, type FeatureContext, type OutgoingFile, type OutgoingMessage, SvcError } from "@svc/contract";
import { fieldsOf, type SentPartsOf, textOf, withTimeout } from "@svc/kit";
import type { BinaryNode, proto as Proto } from "baileys";
import { type Connection, type WebSection, sentChanges } from "./connection.ts";
import { numberIn } from "./inbound.ts";
import { upload } from "./media.ts";
import type { SessionStore } from "./session-store.ts";

/** The app takes 65 536; longer ones than this are folded there. */
export const TEXT_CHARS = 4096;
const CAPTION_CHARS = 1024;
const CAPTIONED: ReadonlySet<string> = new Set(["image", "video", "document"]);
const ACK_LIMIT_MS = 20_000;

export interface OutboundDeps {
  readonly context: Pick<FeatureContext, "clock" | "fetch">;
  readonly section: WebSection;
  /** Throws CHANNEL_DOWN, and why the last connection ended. */
  connected(signal: AbortSignal): Promise<{ readonly connection: Connection; readonly store: SessionStore }>;
  readonly sentParts: SentPartsOf;
}

export function messageSender(deps: OutboundDeps): Channel["send"] {
  return async (message, signal) => {
    signal.throwIfAborted();
    const jid = jidOf(message.conversation.id);
    const { connection, store } = await deps.connected(signal);
    const sent = await deps.sentParts(message.deliveryId);
    const parts = partsOf(message);
    let { platformId } = sent;
    for (const [place, { name, text, file }] of parts.entries()) {
      if (sent.has(name)) continue;
      const content = await contentOf(deps, connection, message, { text, file }, signal);
      const id = messageId(message.deliveryId, name);
      await transmit(deps, connection, store, { jid, id, content }, signal);
      platformId ??= id;
      // The last one is the end of the delivery, which is stored anyway.
      if (place < parts.length - 1) await sent.add(name, id);
    }
    sent.end();
    return platformId === undefined ? {} : { platformId };
  };
}

/** Throws DELIVERY_REFUSED unless it is a phone number or a group. */
export function jidOf(conversationId: string): string {
  if (/^[0-9]{5,40}(?:-[0-9]{5,20})?@g\.us$/.test(conversationId)) return conversationId;
  const digits = /^\+?[0-9\s().-]+$/.test(conversationId) ? conversationId.replaceAll(/[^0-9]/g, "") : "";
  if (numberIn(digits) !== undefined) return `${digits}@s.whatsapp.net`;
  throw new SvcError("DELIVERY_REFUSED", "This is neither a phone number nor a group of the platform.", {
    hint: "Write phone numbers with the country code, like +4915112345678.",
  });
}

/** As the platform's own web app makes them. */
const messageId = (deliveryId: string, part: string): string =>
  `3EB0${createHash("sha256").update(`${deliveryId}\n${part}`).digest("hex").slice(0, 18).toUpperCase()}`;

interface Part {
  /** Stable over retries. */
  readonly name: string;
  readonly text: string;
  readonly file: OutgoingFile | undefined;
}

function partsOf({ text, files = [] }: OutgoingMessage): Part[] {
  const [first] = files;
  const isCaption =
    first !== undefined && files.length === 1 && CAPTIONED.has(first.kind) && text.length <= CAPTION_CHARS;
  const own: Part[] = text.trim() === "" || isCaption ? [] : [{ name: "text", text, file: undefined }];
  return [...own, ...files.map((file, index) => ({ name: `file ${index}`, text: isCaption ? text : "", file }))];
}

async function contentOf(
  deps: OutboundDeps,
  connection: Connection,
  message: OutgoingMessage,
  { text, file }: Pick<Part, "text" | "file">,
  signal: AbortSignal,
): Promise<Proto.IMessage> {
  const contextInfo = quoteOf(message);
  if (file === undefined) return { extendedTextMessage: { text, ...(contextInfo && { contextInfo }) } };
  const stored = await upload(connection, deps, file, signal);
  const common = { ...stored, mimetype: file.mimeType, ...(contextInfo && { contextInfo }) };
  const caption = text.trim() === "" ? {} : { caption: text };
  switch (file.kind) {
    case "image":
      return { imageMessage: { ...common, ...caption } };
    case "video":
      return { videoMessage: { ...common, ...caption } };
    case "sticker":
      return { stickerMessage: common };
    case "audio": {
      // Ogg with Opus is what the app records: it is shown as a voice note.
      const isVoice = /^audio\/(?:ogg|opus)$/i.test(file.mimeType);
      return { audioMessage: { ...common, ...(isVoice && { ptt: true, mimetype: "audio/ogg; codecs=opus" }) } };
    }
    case "document":
      return { documentMessage: { ...common, ...caption, fileName: file.name, title: file.name } };
  }
}

/** In a group an answer quotes the message that it answers. */
function quoteOf({ replyData, conversation }: OutgoingMessage): Proto.IContextInfo | undefined {
  const { id, participant } = fieldsOf(replyData);
  const [stanzaId, author] = [textOf(id), textOf(participant)];
  if (stanzaId === undefined || author === undefined || !conversation.id.endsWith("@g.us")) return undefined;
  return { stanzaId, participant: author, quotedMessage: { conversation: "" } };
}

interface Transmission {
  readonly jid: string;
  readonly id: string;
  readonly content: Proto.IMessage;
}

/** Resolves when the platform has taken it. */
async function transmit(
  { context }: Pick<OutboundDeps, "context">,
  connection: Connection,
  store: SessionStore,
  { jid, id, content }: Transmission,
  signal: AbortSignal,
): Promise<void> {
  const { library, socket } = connection;
  signal.throwIfAborted();
  // A recipient that can't decrypt it requests it again, also after a restart.
  await store.commit(sentChanges(store, id, library.proto.Message.encode(content).finish()));
  const ack = Promise.withResolvers<BinaryNode>();
  const event = `TAG:${id}`;
  const onAck = (node: BinaryNode): void => ack.resolve(node);
  socket.ws.on(event, onAck);
  void connection.closed.then((why) => ack.reject(asDeliveryError(why)));
  const error = (): SvcError => new SvcError("REMOTE_TIMEOUT", "The platform did not confirm the message in time.");
  ack.promise.catch(() => undefined);
  try {
    const node = await withTimeout({ clock: context.clock, timeoutMs: ACK_LIMIT_MS, signal, error }, () => {
      socket
        .relayMessage(jid, content, { messageId: id })
        .catch((failure: unknown) => ack.reject(failure instanceof SvcError ? failure : unsent(failure)));
      return ack.promise;
    });
    const { error: refused, backoff } = node.attrs;
    if (refused !== undefined) throw refusalOf(refused, backoff);
  } finally {
    socket.ws.off(event, onAck);
  }
}

/** Codes of the platform's answers to messages. */
function refusalOf(code: string, backoff: string | undefined): SvcError {
  const waitMs = Number(backoff) * 1000;
  const retry = Number.isFinite(waitMs) && waitMs > 0 ? { retryAfterMs: waitMs } : {};
  if (code === "401" || code === "403") {
    return new SvcError("CHANNEL_UNAUTHORIZED", "The platform does not let this account send messages.", {
      hint: "Open WhatsApp on the phone: it says whether the account is restricted.",
    });
  }
  if (code === "463") {
    return new SvcError(
      "DELIVERY_REFUSED",
      "The platform does not let this account begin chats at present (error 463).",
      {
        hint: "Wait until this person has written first, or until the restriction ends.",
      },
    );
  }
  if (code === "429" || code === "408" || /^5\d\d$/.test(code)) {
    return new SvcError("DELIVERY_FAILED", `The platform did not take the message (error ${code.slice(0, 5)}).`, retry);
  }
  return new SvcError("DELIVERY_REFUSED", `The platform refuses the message (error ${code.slice(0, 5)}).`);
}

/** Why a connection ended, as an error of a message that was on its way. */
function asDeliveryError(why: SvcError): SvcError {
  if (why.code !== "DRAINING" && !why.code.startsWith("STORE_")) return why;
  return new SvcError("DELIVERY_FAILED", "The connection to the platform ended before the message was confirmed.", {
    cause: why,
  });
}

/** The library's errors quote what they were about. */
function unsent(cause: unknown): SvcError {
  const { output } = (cause ?? {}) as { output?: { statusCode?: number } };
  if (output?.statusCode === 404 || output?.statusCode === 406) {
    return new SvcError("DELIVERY_REFUSED", "The platform knows no such number or group.");
  }
  return new SvcError("DELIVERY_FAILED", "The message could not be encrypted or sent.", { cause });
}
