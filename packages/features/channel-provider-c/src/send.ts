/** A message as the platform takes it: the text, then its files. */
import type { OutgoingFile, OutgoingMessage, Receipt } from "@svc/contract";
import { multipart } from "@svc/kit";
import * as v from "valibot";
import { type Api, json } from "./api.ts";
import type { Progress } from "./progress.ts";
import { targetOf } from "./target.ts";

export interface SendParts {
  readonly api: Api;
  readonly progress: Progress;
  readonly tenantId: string | undefined;
}

/** The receipt is the last request's: of what is shown last. */
export async function sendMessage(
  { api, progress, tenantId }: SendParts,
  { conversation, text, files = [], deliveryId }: OutgoingMessage,
  signal: AbortSignal,
): Promise<Receipt> {
  signal.throwIfAborted();
  const target = targetOf(tenantId, conversation.id);
  const steps = files.map((file) => async () => receiptOf(await sendFile(api, target, file, signal)));
  if (text.trim() !== "") {
    steps.unshift(async () =>
      receiptOf(await api("/conversations/messages/text", { ...json({ target, text }), signal })),
    );
  }
  return (await progress.run(deliveryId, steps)) ?? {};
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
function receiptOf(answer: { readonly json: unknown }): Receipt {
  const { success, output } = v.safeParse(TAKEN, answer.json);
  return success ? { platformId: output.message.id } : {};
}

const TAKEN = v.object({ message: v.object({ id: v.pipe(v.string(), v.nonEmpty()) }) });
