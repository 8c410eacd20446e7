/** A platform with everything that a suite of channels asks about: tokens, keys, limits, files, signs of life. */
import { randomUUID } from "node:crypto";
import {
  type FakePlatform,
  type PlatformReply,
  type PlatformRequest,
  startPlatform,
} from "../../src/platforms/base.ts";
import { startUpdates, type Update } from "./updates.ts";

export const TOKEN = "token-7f3a-of-the-bot";
export const MAX_CHARS = 1000;
export const MAX_LABEL_CHARS = 40;

export interface ChatPlatform extends FakePlatform {
  readonly sent: readonly Sent[];
  /** A file that is there; its id. */
  host(bytes: Uint8Array): string;
  /** A file that is said to be at this URL. */
  link(url: string): string;
  /** Somebody writes; kept until a poll confirms it. */
  write(update: Omit<Update, "room">): void;
  /** Ends every poll. */
  disconnect(): void;
}

interface Sent {
  text: string;
  buttons: string[];
  readonly ids: readonly string[];
}

interface Button {
  readonly id: string;
  readonly label: string;
}

export async function startChatPlatform(): Promise<ChatPlatform> {
  const files = new Map<string, Uint8Array | string>();
  const keys = new Set<string>();
  const sent: Sent[] = [];
  const { poll, write, disconnect } = startUpdates();

  function take({ json, headers }: PlatformRequest): PlatformReply {
    const {
      room,
      text,
      file,
      buttons = [],
      format,
    } = (json ?? {}) as {
      room?: string;
      text?: string;
      file?: string;
      buttons?: Button[];
      format?: string;
    };
    const isWrong = typeof room !== "string" || typeof text !== "string" || (text === "" && file === undefined);
    if (isHalfHtml(text, format)) return { status: 400, json: { error: "unclosed tag" } };
    const isTooLong = (text?.length ?? 0) > MAX_CHARS || buttons.some(({ label }) => label.length > MAX_LABEL_CHARS);
    if (isWrong || isTooLong) return { status: 400, json: { error: "bad message" } };
    const key = headers["idempotency-key"] ?? "";
    const labels = buttons.map(({ label }) => label);
    if (!keys.has(key)) sent.push({ text, buttons: labels, ids: buttons.map(({ id }) => id) });
    keys.add(key);
    return { json: { id: `platform-${sent.length}` } };
  }

  function edit({ path, json }: PlatformRequest): PlatformReply {
    const message = sent[Number(path.replace("/messages/platform-", "")) - 1];
    if (!message) return { status: 404, json: { error: path } };
    const { text = "", keepButtons, format } = (json ?? {}) as { text?: string; keepButtons?: true; format?: string };
    if (text.length > MAX_CHARS || isHalfHtml(text, format)) return { status: 400, json: { error: "bad message" } };
    if (text === message.text) return { status: 409, json: { error: "not modified" } };
    message.text = text;
    if (keepButtons !== true) message.buttons = [];
    return { status: 204 };
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
    if (method === "PATCH") return edit(request);
    if (route === "GET /updates") return poll(request);
    if (route === "POST /typing" || path.startsWith("/marks/")) return { status: 204 };
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
  return Object.assign(base, { sent, host, link, write, disconnect });
}

/** A platform that takes markup is strict with it. */
const isHalfHtml = (text = "", format?: string): boolean =>
  format === "html" && text.split("<b>").length !== text.split("</b>").length;
