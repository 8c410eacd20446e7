/** A message goes into its chat; when the platform knows no such chat, a new one with the sender is begun. */
import { type Conversation, type Json, type OutgoingMessage, type Receipt, SvcError } from "@svc/contract";
import { pathPart } from "@svc/kit";
import * as v from "valibot";
import { type Api, errorCodeOf, refusalOf } from "./api.ts";
import { isHandle } from "./handle.ts";
import type { Upload } from "./media.ts";

export interface SendDeps {
  readonly api: Api;
  readonly upload: Upload;
  readonly fromPhone: string;
}

export async function sendMessage(
  { api, upload, fromPhone }: SendDeps,
  { conversation, text, files = [], deliveryId, replyData }: OutgoingMessage,
  signal: AbortSignal,
): Promise<Receipt> {
  signal.throwIfAborted();
  const parts: Json[] = text.trim() === "" ? [] : [{ type: "text", value: text }];
  for (const file of files) parts.push({ type: "media", attachment_id: await upload(file, signal) });
  // One request for all of it, and one key: however often it is sent again, it is delivered once.
  const message = { parts, idempotency_key: deliveryId };
  const begin = async (to: string): Promise<Receipt> =>
    receiptOf(await api("/chats", { json: { from: fromPhone, to: [to], message }, signal }), conversation);

  // `channel_send` may be told a number instead of a chat.
  if (isHandle(conversation.id)) return begin(conversation.id);
  const path = `/chats/${pathPart(conversation.id)}/messages`;
  const answer = await api(path, { json: { message }, answers: [404], signal });
  if (answer.status !== 404) return receiptOf(answer, conversation);
  // It says 404 of other things too: of a key whose message was deleted meanwhile, which must not be sent again.
  if ((errorCodeOf(answer) ?? CHAT_NOT_FOUND) !== CHAT_NOT_FOUND) throw refusalOf(answer);
  const recipient = v.safeParse(REPLY_DATA, replyData);
  if (recipient.success) return begin(recipient.output.to);
  throw new SvcError("DELIVERY_REFUSED", "The platform has no such chat any more.");
}

const CHAT_NOT_FOUND = 2001;
const REPLY_DATA = v.object({ to: v.string() });

/** An acceptance without an id is one all the same. Answers name the chat by its id, never the number it was begun with. */
function receiptOf({ json }: { readonly json: Json | undefined }, { channel, id }: Conversation): Receipt {
  const { success, output } = v.safeParse(TAKEN, json);
  if (!success) return {};
  const { message, chatId } = output;
  return { platformId: message.id, ...(chatId !== undefined && chatId !== id && { opened: { channel, id: chatId } }) };
}

const ID = v.pipe(v.string(), v.nonEmpty(), v.maxLength(512));
const MESSAGE = v.object({ id: ID });
const CHAT_ID = v.fallback(v.optional(ID), undefined);
/** The answer for a new chat, and for an existing one. */
const TAKEN = v.union([
  v.pipe(
    v.object({ chat: v.object({ id: CHAT_ID, message: MESSAGE }) }),
    v.transform(({ chat: { id, message } }) => ({ message, chatId: id })),
  ),
  v.pipe(
    v.object({ chat_id: CHAT_ID, message: MESSAGE }),
    v.transform(({ chat_id: chatId, message }) => ({ message, chatId })),
  ),
]);
