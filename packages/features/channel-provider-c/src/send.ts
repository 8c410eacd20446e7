/** A message as the platform takes it: the text, then its files. */
import type { OutgoingFile, OutgoingMessage, Receipt } from "@svc/contract";
import { multipart, type PlatformAnswer, type SentPartsOf } from "@svc/kit";
import * as v from "valibot";
import { type Api, json } from "./api.ts";
import { recipientOf, targetOf } from "./target.ts";

export interface SendDeps {
  readonly api: Api;
  readonly sentParts: SentPartsOf;
  readonly tenantId: string | undefined;
}

/** The receipt belongs to the first request, whose part is shown first. */
export async function sendMessage(
  { api, sentParts, tenantId }: SendDeps,
  { conversation, text, files = [], deliveryId }: OutgoingMessage,
  signal: AbortSignal,
): Promise<Receipt> {
  signal.throwIfAborted();
  const target = targetOf(tenantId, conversation.id);
  const parts: [part: string, send: () => Promise<PlatformAnswer>][] = files.map((file, place) => [
    `file ${place}`,
    () => sendFile(api, target, file, signal),
  ]);
  if (text.trim() !== "") {
    parts.unshift(["text", () => api("/conversations/messages/text", { ...json({ target, text }), signal })]);
  }
  const sent = await sentParts(deliveryId);
  const rest = parts.filter(([part]) => !sent.has(part));
  let { platformId } = sent;
  for (const [place, [part, send]] of rest.entries()) {
    const id = idOf(await send());
    platformId ??= id;
    // The last one is the end of the delivery, which is kept anyway.
    if (place < rest.length - 1) await sent.add(part, id);
  }
  sent.end();
  // A number may be written in many ways; who answers has one.
  const id = recipientOf(tenantId, conversation.id);
  const opened = id !== undefined && id !== conversation.id && { opened: { ...conversation, id } };
  return { ...(platformId !== undefined && { platformId }), ...opened };
}

/** https://docs.wati.io/reference/conversations_sendfile */
async function sendFile(api: Api, target: string, file: OutgoingFile, signal: AbortSignal) {
  const { name, mimeType } = file;
  const bytes = await file.read();
  const { body, contentType } = await multipart({ target }, [{ field: "file", name, mimeType, bytes }]);
  const headers = { "content-type": contentType };
  return api("/conversations/messages/file", { method: "POST", headers, body, timeoutMs: UPLOAD_MS, signal });
}

/** One attempt to send may take a minute in all. */
const UPLOAD_MS = 50_000;

/** An acceptance without an id is one all the same. */
function idOf({ json: answer }: PlatformAnswer): string | undefined {
  const { success, output } = v.safeParse(TAKEN, answer);
  return success ? output.message.id : undefined;
}

const TAKEN = v.object({ message: v.object({ id: v.pipe(v.string(), v.nonEmpty()) }) });
