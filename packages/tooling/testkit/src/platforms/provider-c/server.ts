/**
 * Provider C's API, version 3, as its documents say: bearer token, lines, messages to a `[line:]number` with whom a
 * conversation is open, and files behind the same token. It knows no idempotency keys.
 */
import { randomUUID } from "node:crypto";
import type { Json } from "@svc/contract";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { formOf, type ReceivedFile } from "./form.ts";

export interface ProviderCOptions {
  readonly token: string;
  /** The account's lines. Default: one. */
  readonly lines?: readonly { readonly name: string; readonly number: string }[];
  /** Whether the token may list the lines. */
  readonly mayListLines?: boolean;
}

export interface ProviderCSent {
  readonly messageId: string;
  /** As it was given. */
  readonly target: string;
  readonly text: string;
  readonly file: ReceivedFile | undefined;
}

export interface ProviderC extends FakePlatform {
  readonly sent: readonly ProviderCSent[];
  /** Targets that were shown "… is writing". */
  readonly typing: readonly string[];
  /** 24 hours after what they wrote last, nothing can be sent to them. `how`: with which status it says so. */
  closeConversation(number: string, how: 200 | 400): void;
  /** Serves a file to who has the token; the link, as a delivery has it. */
  host(bytes: Uint8Array, mimeType: string, name: string): string;
  /** The file of a message, which the platform finds by the message's id. */
  hostFor(messageId: string, bytes: Uint8Array, mimeType: string): void;
  /** A link that leads on to another address. */
  redirect(to: string): string;
}

const ROOT = "/api/ext/v3";
const MAX_TEXT_CHARS = 4096;

export async function startProviderC(options: ProviderCOptions): Promise<ProviderC> {
  const { token, lines = [{ name: "Main", number: "15550009999" }], mayListLines = true } = options;
  const sent: ProviderCSent[] = [];
  const typing: string[] = [];
  const closed = new Map<string, 200 | 400>();
  const files = new Map<string, PlatformReply>();

  function take(target: unknown, text: string, file: ReceivedFile | undefined): PlatformReply {
    const problem = problemWith(target);
    if (problem) return problem;
    const message = { messageId: randomUUID(), target: target as string, text, file };
    sent.push(message);
    const shown = { id: message.messageId, local_message_id: randomUUID(), conversation_id: "c-1", status: "sent" };
    return { json: { message: { ...shown, type: file ? "file" : "text", text, timestamp: "1770120000" } } };
  }

  function problemWith(target: unknown): PlatformReply | undefined {
    const [, line, number = ""] = /^(?:([^:]+):)?([0-9]{6,15})$/.exec(typeof target === "string" ? target : "") ?? [];
    if (number === "") return failed(400, "target is invalid");
    if (line !== undefined && !lines.some(({ name, number: own }) => line === name || line === own)) {
      return failed(404, "Channel Not Found");
    }
    // Of several lines it can't tell which one is meant.
    if (line === undefined && lines.length > 1) return failed(409, "multiple open conversations");
    const how = closed.get(number);
    if (how === 200) return { json: { result: false, info: "Ticket has been expired." } };
    return how === undefined ? undefined : failed(400, "Conversation Not Found");
  }

  async function answer(request: PlatformRequest): Promise<PlatformReply> {
    const { method, path, json } = request;
    const { target, text } = (json ?? {}) as { target?: string; text?: string };
    switch (path.startsWith(ROOT) ? `${method} ${path.slice(ROOT.length)}` : "") {
      case "GET /channels":
        if (!mayListLines) return failed(403, "Forbidden");
        return {
          json: { channels: lines.map(({ name, number }) => ({ id: `id of ${name}`, name, channel: number })) },
        };
      case "POST /conversations/messages/text":
        if (typeof text !== "string" || text === "" || text.length > MAX_TEXT_CHARS)
          return failed(400, "text is invalid");
        return take(target, text, undefined);
      case "POST /conversations/messages/file": {
        const form = await formOf(request);
        return form === undefined ? failed(400, "file is required") : take(form.target, form.caption, form.file);
      }
      case "POST /conversations/typingIndicator":
        typing.push(String(target));
        return problemWith(target) ?? { json: { success: true } };
      default:
        return method === "GET" ? (files.get(`${path}?${request.query.toString()}`) ?? gone) : failed(404, "Not Found");
    }
  }

  const base = await startPlatform((request) =>
    request.headers["authorization"] === `Bearer ${token}` ? answer(request) : { status: 401 },
  );
  const put = (path: string, query: string, reply: PlatformReply): string => {
    files.set(`${path}?${query}`, reply);
    return `${base.url}${path}${query === "" ? "" : `?${query}`}`;
  };
  return Object.assign(base, {
    sent,
    typing,
    closeConversation: (number: string, how: 200 | 400) => void closed.set(number, how),
    host: (bytes: Uint8Array, mimeType: string, name: string) =>
      put(
        "/2552/api/file/showFile",
        new URLSearchParams({ fileName: `data/${name}` }).toString(),
        served(bytes, mimeType),
      ),
    hostFor: (messageId: string, bytes: Uint8Array, mimeType: string) =>
      void put(`${ROOT}/conversations/messages/file/${messageId}`, "", served(bytes, mimeType)),
    redirect: (to: string) => put(`/moved/${randomUUID()}`, "", { status: 302, headers: { location: to } }),
  });
}

const served = (bytes: Uint8Array, mimeType: string): PlatformReply => ({
  headers: { "content-type": mimeType },
  bytes,
});

const failed = (status: number, message: string): PlatformReply => ({
  status,
  json: { code: status, message } satisfies Json,
});

/** It says 400 of a file that is gone. */
const gone: PlatformReply = { status: 400, json: { code: 5004, message: "Message Not Found" } };
