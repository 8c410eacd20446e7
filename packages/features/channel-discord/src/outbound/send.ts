/**
 * Sending. A text and its files are one message, as far as it has room; a retry of one that takes several goes on where the
 * last try stopped.
 */
import type { Channel, Json } from "@svc/contract";
import { type Form, multipart, type SentPartsOf } from "@svc/kit";
import type { Rest } from "../api/rest.ts";
import type { AnsweredCommands } from "./answered-commands.ts";
import { type Bundle, bundlesOf } from "./files.ts";
import { answering, once, saying } from "./message-body.ts";
import type { Places } from "./places.ts";
import type { References } from "./references.ts";
import { messageId, receiptOf } from "./sent-message.ts";

export interface SendParts {
  readonly rest: Rest;
  readonly places: Places;
  readonly references: References;
  readonly commands: AnsweredCommands;
  readonly sentParts: SentPartsOf;
}

export function messageSender(parts: SendParts): Channel["send"] {
  const { places, references, commands, sentParts } = parts;
  return async (message, signal) => {
    signal.throwIfAborted();
    const { text, deliveryId } = message;
    const { channelId, opened } = await places.find(message.conversation, signal);
    const bundles = await bundlesOf(message);
    const asCommand = bundles.length === 0 ? await commands.answer(message, signal) : undefined;
    if (asCommand !== undefined) return receiptOf(asCommand, opened);
    if (bundles.length <= 1) {
      const body = { ...saying(text), ...once(deliveryId), ...answering(references.of(message)) };
      return receiptOf(await post(parts, channelId, body, bundles[0], signal), opened);
    }
    const sent = await sentParts(deliveryId);
    let { platformId } = sent;
    for (const [place, bundle] of bundles.entries()) {
      const part = `files ${place}`;
      if (sent.has(part)) continue;
      const reference = place === 0 ? answering(references.of(message)) : {};
      const body = { ...saying(place === 0 ? text : ""), ...once(`${deliveryId} ${part}`), ...reference };
      const id = await post(parts, channelId, body, bundle, signal);
      platformId ??= id;
      await sent.add(part, id);
    }
    sent.end();
    return receiptOf(platformId, opened);
  };
}

/** Resolves with the id of the message. */
async function post(
  { rest }: Pick<SendParts, "rest">,
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
