/** The platform: a real server on loopback that is as strict as the one it stands for, and deliveries as that one posts them. */
import { createHmac } from "node:crypto";
import type { SampleDelivery } from "@svc/contract";
import type { PlatformMessage } from "@svc/testkit/conformance/channel-conformance";
import {
  type FakePlatform,
  type PlatformReply,
  type PlatformRequest,
  startPlatform,
} from "@svc/testkit/platforms/base";

export const TOKEN = "token-of-the-bot";

export interface Chat extends FakePlatform {
  readonly sent: readonly { readonly room: string; readonly text: string }[];
}

const MAX_CHARS = 4000;

export async function startChat(): Promise<Chat> {
  const sent = new Map<string, { room: string; text: string }>();

  function take({ json, headers }: PlatformRequest): PlatformReply {
    const { room, text } = (json ?? {}) as { room?: unknown; text?: unknown };
    if (typeof room !== "string" || typeof text !== "string" || text === "" || text.length > MAX_CHARS) {
      return { status: 400, json: { error: "no message" } };
    }
    const key = headers["idempotency-key"] ?? `message ${sent.size}`;
    if (!sent.has(key)) sent.set(key, { room, text });
    return { json: { id: `m-${sent.size}` } };
  }

  const base = await startPlatform((request) => {
    if (request.headers["authorization"] !== `Bearer ${TOKEN}`) return { status: 401, json: { error: "who are you?" } };
    if (request.path === "/me") return { json: { name: "the bot" } };
    return request.path === "/messages" ? take(request) : { status: 404, json: { error: "no such path" } };
  });
  return Object.defineProperty(base, "sent", { get: () => [...sent.values()] }) as Chat;
}

export function delivered(body: Uint8Array, secret: unknown, atMs: number): SampleDelivery {
  const timestamp = String(Math.floor(atMs / 1000));
  const signature = createHmac("sha256", String(secret)).update(`${timestamp}.`).update(body).digest("hex");
  const signed = secret === undefined ? {} : { "X-Signature": `sha256=${signature}` };
  return { method: "POST", query: "", headers: { "X-Timestamp": timestamp, ...signed }, body };
}

export const bodyOf = ({ id, from, text, atMs }: PlatformMessage, more: object = {}): Uint8Array =>
  Buffer.from(JSON.stringify({ id, room: "room-1", user: from, text, sent_at_ms: atMs, ...more }));
