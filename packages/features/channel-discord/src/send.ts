/**
 * Sending. A text and its files are one message, as far as it has room; a retry of one that takes several goes on where the
 * last try stopped.
 */
import {
  type Channel,
  type Conversation,
  type FeatureContext,
  type Json,
  type Media,
  type OutgoingMessage,
  type Receipt,
  SvcError,
} from "@svc/contract";
import { type Form, type SentPartsOf, downloadMedia, multipart } from "@svc/kit";
import { createHash } from "node:crypto";
import { formatted } from "./format.ts";
import type { InteractionTokens } from "./interactions.ts";
import type { Places } from "./places.ts";
import { fieldsOf, idOf } from "./protocol.ts";
import { INVALID_WEBHOOK_TOKEN, type Rest, UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK, unreadable } from "./rest.ts";
import type { Config } from "./config.ts";
import type { Cdn } from "./message.ts";

export interface SendDeps {
  readonly rest: Rest;
  readonly places: Places;
  readonly references: References;
  readonly commands: AnsweredCommands;
  readonly sentParts: SentPartsOf;
}

export function messageSender(deps: SendDeps): Channel["send"] {
  const { places, references, commands, sentParts } = deps;
  return async (message, signal) => {
    signal.throwIfAborted();
    const { text, deliveryId } = message;
    const { channelId, opened } = await places.find(message.conversation, signal);
    const bundles = await bundlesOf(message);
    const asCommand = bundles.length === 0 ? await commands.answer(message, signal) : undefined;
    if (asCommand !== undefined) return receiptOf(asCommand, opened);
    if (bundles.length <= 1) {
      const body = { ...saying(text), ...once(deliveryId), ...answering(references.of(message)) };
      return receiptOf(await post(deps, channelId, body, bundles[0], signal), opened);
    }
    const sent = await sentParts(deliveryId);
    let { platformId } = sent;
    for (const [place, bundle] of bundles.entries()) {
      const part = `files ${place}`;
      if (sent.has(part)) continue;
      const reference = place === 0 ? answering(references.of(message)) : {};
      const body = { ...saying(place === 0 ? text : ""), ...once(`${deliveryId} ${part}`), ...reference };
      const id = await post(deps, channelId, body, bundle, signal);
      platformId ??= id;
      await sent.add(part, id);
    }
    sent.end();
    return receiptOf(platformId, opened);
  };
}

/** Resolves with the id of the message. */
async function post(
  { rest }: Pick<SendDeps, "rest">,
  channelId: string,
  body: Record<string, Json>,
  bundle: Bundle | undefined,
  signal: AbortSignal,
): Promise<string> {
  const path = `channels/${channelId}/messages`;
  const content = bundle === undefined ? { json: body } : { form: await formOf(body, bundle) };
  return messageId(await rest.call({ path, ...content }, signal));
}

/** https://docs.discord.com/developers/reference#uploading-files */
function formOf(body: Record<string, Json>, bundle: Bundle): Promise<Form> {
  const attachments = bundle.map(({ name }, id) => ({ id, filename: name }));
  const files = bundle.map((file, id) => ({ field: `files[${id}]`, ...file }));
  return multipart({ payload_json: JSON.stringify({ ...body, attachments }) }, files);
}

// A message as the platform takes it.
// https://docs.discord.com/developers/resources/message#create-message

/** Fields of a new message, and of an edited one. */
export const saying = (text: string) => ({
  content: formatted(text),
  // Mentions notify no one, so that an injected prompt can't make the model ping people; readers still see the names.
  allowed_mentions: { parse: [] },
  // Otherwise the platform fetches every link at once, which could leak data in a URL.
  flags: SUPPRESS_EMBEDS,
});

const SUPPRESS_EMBEDS = 1 << 2;

/** The platform posts a repeated request with the same key once, for some minutes. */
export const once = (key: string) => ({
  nonce: createHash("sha256").update(key).digest("base64url").slice(0, NONCE_CHARS),
  enforce_nonce: true,
});

const NONCE_CHARS = 25;

/** Shows which message is answered in a server channel. A deleted message does not block the answer. */
const answering = (messageId: string | undefined) =>
  messageId === undefined ? {} : { message_reference: { message_id: messageId, fail_if_not_exists: false } };

// A message of ours, by the id that the platform gives it.

/** An answer without an id counts as not accepted: the same nonce makes a retry safe. */
export function messageId(json: Json | undefined): string {
  const id = idOf(fieldsOf(json)["id"]);
  if (id === undefined) throw unreadable();
  return id;
}

export function receiptOf(platformId: string | undefined, opened: Conversation | undefined): Receipt {
  return { ...(platformId !== undefined && { platformId }), ...(opened && { opened }) };
}

/** The id of a message of ours. Throws DELIVERY_REFUSED for any other text. */
export function sentId(platformId: string): string {
  const id = idOf(platformId);
  if (id === undefined) throw new SvcError("DELIVERY_REFUSED", "This is no id of a message.");
  return id;
}

interface References {
  /** The message that this one is shown to answer. */
  of(message: Pick<OutgoingMessage, "replyData" | "deliveryId">): string | undefined;
}

/** The first of all that is said in answer to a message; a long answer would quote it with each of its parts. */
export function references(): References {
  const first = new Map<string, string>();
  return {
    of(message) {
      const { messageId } = replyDataOf(message);
      if (messageId === undefined) return undefined;
      const by = first.get(messageId) ?? message.deliveryId;
      first.set(messageId, by);
      for (const oldest of first.keys()) if (first.size > MOST) first.delete(oldest);
      return by === message.deliveryId ? messageId : undefined;
    },
  };
}

const MOST = 1000;

/** `Inbound.replyData` of the answered message. */
const replyDataOf = ({ replyData }: Pick<OutgoingMessage, "replyData">) => {
  const { messageId: answered, interaction } = fieldsOf(replyData);
  return { messageId: idOf(answered), interaction: idOf(interaction) };
};

/**
 * The answer to a command from the platform's menu: it takes the place of the "… is thinking" there.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#edit-original-interaction-response
 */
interface AnsweredCommands {
  /** Resolves with the id of the message; undefined: it is no answer to one, or the command is too old for it. */
  answer(message: OutgoingMessage, signal: AbortSignal): Promise<string | undefined>;
}

export const answeredCommands = (rest: Rest, tokens: Pick<InteractionTokens, "claim">): AnsweredCommands => ({
  async answer(message, signal) {
    const { interaction } = replyDataOf(message);
    const answerable = interaction && (await tokens.claim(interaction, message.deliveryId));
    if (!answerable) return undefined;
    const path = `webhooks/${answerable.applicationId}/${answerable.token}/messages/@original`;
    const outcome = await rest.attempt({ method: "PATCH", path, json: saying(message.text) }, signal);
    if (!("error" in outcome)) return messageId(outcome.json);
    if (outcome.code !== undefined && GONE.has(outcome.code)) return undefined;
    throw outcome.error;
  },
});

/** The token has expired, or the platform gave the command up. */
const GONE: ReadonlySet<number> = new Set([UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK, INVALID_WEBHOOK_TOKEN]);

/**
 * Files that people send: links of the platform's own hosts, which need no token and are given none.
 * https://docs.discord.com/developers/reference#signed-attachment-cdn-urls
 */
type MediaDeps = Pick<FeatureContext, "clock" | "fetch">;

export function mediaFetcher({ api_url: apiUrl }: Config, { clock, fetch }: MediaDeps): Media["fetch"] {
  return async ({ ref }, write, signal) => {
    signal.throwIfAborted();
    if (!isPlatforms(ref, apiUrl)) {
      throw new SvcError("MEDIA_REFUSED", "The file is at a host that is not the platform's.");
    }
    return downloadMedia(fetch, {
      url: ref,
      maxBytes: MAX_MEDIA_BYTES,
      redirects: "same-host",
      write,
      signal,
      nowMs: clock.now(),
    });
  };
}

const IMAGES = "https://cdn.discordapp.com";
const MOVING = "https://media.discordapp.net";

/** A server that stands in for the platform has its files too. */
export function cdnOf({ api_url: apiUrl }: Pick<Config, "api_url">): Cdn {
  const { origin, hostname } = new URL(apiUrl);
  return /(?:^|\.)discord\.com$/.test(hostname)
    ? { images: IMAGES, moving: MOVING }
    : { images: origin, moving: origin };
}

/** The sender of a message does not choose these links, but a proxy of the gateway could. */
function isPlatforms(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return origin === IMAGES || origin === MOVING || origin === new URL(apiUrl).origin;
}

/** Files on their way out, as many in a message as it takes. */
interface FileBytes {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

type Bundle = readonly FileBytes[];

/** The limit of a whole message, and of a received file: https://docs.discord.com/developers/resources/message#create-message */
export const MAX_MEDIA_BYTES = 25 * 1_048_576;
const MAX_FILES = 10;

/**
 * All of them before anything is to be seen: a try that fails here has sent nothing. What one file may have, the platform
 * decides by the server. Throws what `read` throws.
 */
async function bundlesOf({ files = [] }: Pick<OutgoingMessage, "files">): Promise<Bundle[]> {
  const bundles: FileBytes[][] = [];
  let room = 0;
  for (const { name, mimeType, read } of files) {
    const bytes = await read();
    let last = bundles.at(-1);
    if (last === undefined || last.length === MAX_FILES || bytes.byteLength > room) {
      last = [];
      bundles.push(last);
      room = MAX_MEDIA_BYTES;
    }
    last.push({ name, mimeType, bytes });
    room -= bytes.byteLength;
  }
  return bundles;
}
