/** A platform with everything that a suite of channels asks about: tokens, keys, limits, files, signs of life. */
import { randomUUID } from "node:crypto";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../../src/index.ts";

export const TOKEN = "token-7f3a-of-the-bot";
export const MAX_CHARS = 1000;

export interface ChatPlatform extends FakePlatform {
  readonly sent: readonly { readonly text: string }[];
  /** A file that is there; its id. */
  host(bytes: Uint8Array): string;
  /** A file that is said to be at this URL. */
  link(url: string): string;
}

export async function startChatPlatform(): Promise<ChatPlatform> {
  const files = new Map<string, Uint8Array | string>();
  const keys = new Set<string>();
  const sent: { text: string }[] = [];

  function take({ json, headers }: PlatformRequest): PlatformReply {
    const { room, text, file } = (json ?? {}) as { room?: string; text?: string; file?: string };
    const isWrong = typeof room !== "string" || typeof text !== "string" || (text === "" && file === undefined);
    if (isWrong || text.length > MAX_CHARS) return { status: 400, json: { error: "bad message" } };
    const key = headers["idempotency-key"] ?? "";
    if (!keys.has(key)) sent.push({ text });
    keys.add(key);
    return { json: { id: `platform-${sent.length}` } };
  }

  const base = await startPlatform((request) => {
    const { method, path, headers, body } = request;
    if (headers["authorization"] !== `Bearer ${TOKEN}`)
      return { status: 401, json: { error: headers["authorization"] ?? "" } };
    const file = files.get(path.slice("/files/".length));
    if (typeof file === "string") return { status: 302, headers: { location: file } };
    if (file !== undefined) return { headers: { "content-type": "image/png" }, bytes: file };
    const route = `${method} ${path}`;
    if (route === "GET /me") return { json: { name: "the bot" } };
    if (route === "POST /messages") return take(request);
    if (route === "POST /typing") return { status: 204 };
    if (route === "POST /files") return { json: { id: host(body) } };
    return { status: 404, json: { error: path } };
  });
  const host = (bytes: Uint8Array): string => {
    const id = randomUUID();
    files.set(id, bytes);
    return id;
  };
  const link = (url: string): string => {
    const id = randomUUID();
    files.set(id, url);
    return id;
  };
  return Object.assign(base, { sent, host, link });
}
