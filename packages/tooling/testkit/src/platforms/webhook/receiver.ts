/**
 * A receiver of Standard Webhooks, as strict as the specification lets one be
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md): the signature is the reference
 * library's, over the bytes that came; what comes again with the same `webhook-id` is taken and not shown twice.
 */
import { Webhook } from "standardwebhooks";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";

export interface WebhookReceiverOptions {
  /** `whsec_<base64>`, or any text; without one nothing may be signed. */
  readonly secret?: string;
  /** What must stand in Authorization. */
  readonly authorization?: string;
  /** Default: POST. */
  readonly method?: "POST" | "PUT";
  /** What its clock says, milliseconds since the epoch. Default: the real time. */
  readonly nowMs?: () => number;
}

export interface WebhookMessage {
  /** `webhook-id`. */
  readonly id: string;
  /** `content`. */
  readonly text: string;
  readonly conversation: string;
  readonly threadId: string | null;
}

export interface WebhookReceiver extends FakePlatform {
  /** What messages are to be posted to. */
  readonly hook: string;
  /** Each once. */
  readonly sent: readonly WebhookMessage[];
}

const PATH = "/hooks/agent";
const TOLERANCE_SECS = 300;

export async function startWebhookReceiver(options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  const { method = "POST", authorization, secret, nowMs = Date.now } = options;
  const sent: WebhookMessage[] = [];

  function take(request: PlatformRequest): PlatformReply {
    const { headers, body } = request;
    if (request.path !== PATH) return refused(404, "not here");
    if (authorization !== undefined && headers["authorization"] !== authorization) return refused(401, "who are you?");
    if (request.method !== method) return { ...refused(405, "another method"), headers: { allow: method } };
    if (headers["content-type"] !== "application/json") return refused(415, "not JSON");
    const id = headers["webhook-id"] ?? "";
    const timestamp = headers["webhook-timestamp"] ?? "";
    if (!/^[\w.-]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) return refused(400, "no webhook");
    if (Math.abs(nowMs() / 1000 - Number(timestamp)) > TOLERANCE_SECS) return refused(400, "not fresh");
    const expected = secret === undefined ? undefined : signature(secret, id, timestamp, body);
    if (headers["webhook-signature"] !== expected) return refused(401, "another's signature");
    const message = messageOf(id, request.json);
    if (message === undefined) return refused(422, "no message");
    if (!sent.some((taken) => taken.id === id)) sent.push(message);
    return { status: 204 };
  }

  const platform = await startPlatform(take);
  return Object.assign(platform, { hook: `${platform.url}${PATH}`, sent });
}

const refused = (status: number, why: string): PlatformReply & object => ({ status, json: { error: why } });

function signature(secret: string, id: string, timestamp: string, body: Uint8Array): string {
  const webhook = secret.startsWith("whsec_")
    ? new Webhook(secret)
    : new Webhook(new TextEncoder().encode(secret), { format: "raw" });
  return webhook.sign(id, new Date(Number(timestamp) * 1000), Buffer.from(body));
}

/** Exactly the three fields. */
function messageOf(id: string, json: unknown): WebhookMessage | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const { content, conversation, thread_id: threadId, ...others } = json as Record<string, unknown>;
  if (typeof content !== "string" || typeof conversation !== "string" || Object.keys(others).length > 0)
    return undefined;
  if (threadId !== null && typeof threadId !== "string") return undefined;
  return { id, text: content, conversation, threadId };
}
