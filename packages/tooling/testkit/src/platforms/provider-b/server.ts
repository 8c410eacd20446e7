/**
 * Provider B's partner API, version 3, as its documents say: bearer token, lines, chats, messages with idempotency keys,
 * files that are uploaded to another place, and errors with codes of their own.
 */
import { randomUUID } from "node:crypto";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { type Attachment, createAttachments } from "./attachments.ts";
import { created, done, refused } from "./answers.ts";
import { checkMessage, isHandle, type MessageBody } from "./message.ts";

export interface ProviderBOptions {
  readonly token: string;
  /** Numbers that the account may send from. */
  readonly lines: readonly string[];
}

/** What reached a phone: each message once, however often it was sent with the same key. */
export interface ProviderBSent {
  readonly messageId: string;
  readonly chatId: string;
  readonly text: string;
  readonly files: readonly Attachment[];
  readonly idempotencyKey: string | undefined;
}

export interface ProviderB extends FakePlatform {
  readonly apiUrl: string;
  readonly sent: readonly ProviderBSent[];
  /** `read` and `typing`, with the chat's id, in order. */
  readonly signs: readonly string[];
  /** A chat that exists; its id. */
  openChat(handles: readonly string[]): string;
  /** Every send to them is refused from now on. */
  optOut(handle: string): void;
  /** Serves a file without credentials, as its links do; the link. */
  host(bytes: Uint8Array, mimeType: string): string;
}

const ROOT = "/api/partner/v3";

export async function startProviderB({ token, lines }: ProviderBOptions): Promise<ProviderB> {
  const chats = new Map<string, readonly string[]>();
  const sent: ProviderBSent[] = [];
  const signs: string[] = [];
  const optedOut = new Set<string>();
  const answers = new Map<string, PlatformReply>();

  const open = (handles: readonly string[]): string => {
    const id = randomUUID();
    chats.set(id, handles);
    return id;
  };

  function take(chatId: string, message: MessageBody | undefined, reply: (id: string) => PlatformReply): PlatformReply {
    const problem = checkMessage(message, attachments.find);
    if (problem) return problem;
    const { parts, idempotency_key: key } = message as MessageBody;
    const before = key === undefined ? undefined : answers.get(key);
    if (before) return before;
    if (chats.get(chatId)?.some((handle) => optedOut.has(handle))) return refused(403, 2024);
    const messageId = randomUUID();
    sent.push({
      messageId,
      chatId,
      text: parts.flatMap((part) => (part.type === "text" ? (part.value ?? "") : [])).join("\n"),
      files: parts.flatMap((part) => attachments.find(part.attachment_id) ?? []),
      idempotencyKey: key,
    });
    const answer = reply(messageId);
    if (key !== undefined) answers.set(key, answer);
    return answer;
  }

  function beginChat(json: unknown): PlatformReply {
    const { from, to, message } = (json ?? {}) as { from?: string; to?: string[]; message?: MessageBody };
    if (from === undefined || !Array.isArray(to) || to.length === 0) return refused(400, 1001);
    if (!isHandle(from) || !to.every(isHandle)) return refused(400, 1002);
    if (!lines.includes(from)) return refused(403, 2006);
    const known = [...chats].find(([, handles]) => handles.join() === to.join())?.[0];
    const chatId = known ?? open(to);
    const answer = take(chatId, message, (id) => created(201, { chat: { ...chat(chatId, to), message: shown(id) } }));
    return answer;
  }

  function inChat(id: string, action: string, { json }: PlatformRequest): PlatformReply {
    if (!UUID.test(id)) return refused(400, 1005);
    const handles = chats.get(id);
    if (handles === undefined) return refused(404, 2001);
    if (action === "messages") {
      const { message } = (json ?? {}) as { message?: MessageBody };
      return take(id, message, (messageId) => created(202, { chat_id: id, message: shown(messageId) }));
    }
    if (action === "typing" && handles.length > 1) return refused(403, 2016);
    signs.push(`${action} ${id}`);
    return done;
  }

  const base = await startPlatform((request) => {
    const { method, path, headers } = request;
    // Links contain their own permission: a client that sends the token gives it to another server.
    if (path.startsWith("/files/")) return headers["authorization"] ? refused(400, 1005) : attachments.serve(request);
    if (headers["authorization"] !== `Bearer ${token}`) return refused(401, 2004);
    const route = path.startsWith(ROOT) ? `${method} ${path.slice(ROOT.length)}` : "";
    if (route === "GET /phone_numbers") return created(200, { phone_numbers: lines.map(line) });
    if (route === "POST /attachments") return attachments.place(request.json);
    if (route === "POST /chats") return beginChat(request.json);
    const [, id, action] = /^POST \/chats\/([^/]+)\/(messages|typing|read)$/.exec(route) ?? [];
    return id === undefined || action === undefined
      ? refused(404, 1005)
      : inChat(decodeURIComponent(id), action, request);
  });
  const attachments = createAttachments(base.url);

  return Object.assign(base, {
    apiUrl: `${base.url}${ROOT}`,
    sent,
    signs,
    openChat: open,
    optOut: (handle: string) => void optedOut.add(handle),
    host: attachments.host,
  });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const line = (number: string) => ({ id: randomUUID(), phone_number: number });

const chat = (id: string, handles: readonly string[]) => ({
  id,
  display_name: handles.join(", "),
  service: "RCS",
  is_group: handles.length > 1,
  handles: handles.map((handle) => ({ id: randomUUID(), handle, service: "RCS", joined_at: EPOCH })),
  health_status: { status: "HEALTHY", updated_at: EPOCH, doc_url: "" },
});

const shown = (id: string) => ({
  id,
  service: "RCS",
  parts: [],
  created_at: EPOCH,
  sent_at: null,
  delivery_status: "pending",
  is_read: false,
});

const EPOCH = "2026-01-01T00:00:00Z";
