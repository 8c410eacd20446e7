/**
 * Provider A's cloud API as its documents say: bearer token, messages, media in two steps, marks, and errors that are told
 * by a number. It takes nothing that the documents do not name.
 */
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { createFiles, LINK_PATH, type StoredFile } from "./files.ts";
import { graphError, noSuchObject } from "./graph-error.ts";
import { type ReplyButton, repliesOf } from "./interactive.ts";
import { type Body, messageProblem } from "./message-body.ts";

export interface ProviderAOptions {
  readonly accessToken: string;
  readonly phoneNumberId: string;
  /** Default: "Lucky Shrub". */
  readonly verifiedName?: string;
}

/** What reached a phone. */
export interface ProviderASent {
  readonly messageId: string;
  /** As it was addressed: number, user id or group. */
  readonly to: string;
  readonly type: string;
  /** Of a text or a question its body, of a file its caption. */
  readonly text: string;
  /** Labels of the buttons, and what each says when it is pressed. */
  readonly buttons: readonly string[];
  readonly replies: readonly ReplyButton[];
  readonly file: StoredFile | undefined;
  /** The message that it quotes. */
  readonly quotes: string | undefined;
  /** What we wanted to be told back. */
  readonly opaque: string | undefined;
  readonly body: Body;
}

export interface ProviderA extends FakePlatform {
  readonly apiUrl: string;
  /** Tokens that it takes, the option's first. */
  readonly tokens: Set<string>;
  readonly sent: readonly ProviderASent[];
  /** `read <id>`, and `typing <id>` where that was asked for too; in order. */
  readonly marks: readonly string[];
  /** The next sends to a person, or any (`*`), fail with these error numbers, one each. */
  failNext(to: string, codes: readonly number[]): void;
  /** What a message comes with; its id. `link`: where it is, when the platform says another place than its own. */
  host(bytes: Uint8Array, mimeType: string, link?: string): string;
  /** As after seven days. */
  forget(mediaId: string): void;
}

const ROOT = "/v25.0";

export async function startProviderA(options: ProviderAOptions): Promise<ProviderA> {
  const { accessToken, phoneNumberId, verifiedName = "Lucky Shrub" } = options;
  const sent: ProviderASent[] = [];
  const marks: string[] = [];
  const failures = new Map<string, number[]>();
  const tokens = new Set([accessToken]);

  function send(body: Body): PlatformReply {
    const problem = messageProblem(body, files.find);
    if (problem) return problem;
    const to = String(body["to"] ?? body["recipient"]);
    const code = failures.get(to)?.shift() ?? failures.get("*")?.shift();
    if (code !== undefined) return graphError(code, "As the test wants it.");
    const messageId = `wamid.${Buffer.from(`out-${sent.length}`).toString("base64")}`;
    sent.push(sentOf(body, to, messageId, files.find));
    const contact = body["to"] === undefined ? { input: to, user_id: to } : { input: to, wa_id: to.replace("+", "") };
    return { json: { messaging_product: "whatsapp", contacts: [contact], messages: [{ id: messageId }] } };
  }

  function mark({ status, message_id: id, typing_indicator: typing, ...rest }: Body): PlatformReply {
    if (status !== "read" || typeof id !== "string" || id === "") return graphError(100, "Invalid parameter");
    if (Object.keys(rest).some((field) => field !== "messaging_product")) return graphError(100, "Unexpected key");
    if (typing !== undefined && (typing as Body)["type"] !== "text") return graphError(100, "typing_indicator");
    marks.push(`read ${id}`, ...(typing === undefined ? [] : [`typing ${id}`]));
    return { json: { success: true } };
  }

  function messages({ headers, json }: PlatformRequest): PlatformReply {
    const isJson = headers["content-type"]?.startsWith("application/json") === true;
    const body = isJson && typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Body) : {};
    if (body["messaging_product"] !== "whatsapp") return graphError(100, "messaging_product is required.");
    return body["status"] === undefined ? send(body) : mark(body);
  }

  function number({ query }: PlatformRequest): PlatformReply {
    const all: Readonly<Record<string, string>> = {
      display_phone_number: "+1 555-078-3881",
      verified_name: verifiedName,
      quality_rating: "GREEN",
    };
    const fields = (query.get("fields") ?? Object.keys(all).join()).split(",");
    const unknown = fields.find((field) => !(field in all));
    if (unknown !== undefined) return graphError(100, "Tried accessing a nonexisting field.");
    return { json: { ...Object.fromEntries(fields.map((field) => [field, all[field] as string])), id: phoneNumberId } };
  }

  function route(request: PlatformRequest): PlatformReply | Promise<PlatformReply> {
    const { method, path, headers } = request;
    const isLink = path === LINK_PATH;
    const [, token = ""] = /^Bearer (\S+)$/.exec(headers["authorization"] ?? "") ?? [];
    if (!tokens.has(token)) {
      return isLink ? { status: 401 } : graphError(190, "Invalid OAuth access token.");
    }
    if (isLink) return method === "GET" ? files.serve(request) : { status: 405 };
    const [, id = "", edge = ""] = /^\/([^/]+)(?:\/([^/]+))?$/.exec(path.slice(ROOT.length)) ?? [];
    if (!path.startsWith(`${ROOT}/`) || id === "") return graphError(100, "Unknown path components.");
    if (id !== phoneNumberId) return method === "GET" && edge === "" ? files.describe(id) : noSuchObject();
    if (method === "GET" && edge === "") return number(request);
    if (method === "POST" && edge === "messages") return messages(request);
    if (method === "POST" && edge === "media") return files.upload(request);
    return graphError(100, "Unsupported request.");
  }

  const base = await startPlatform(route);
  const files = createFiles(base.url);
  return Object.assign(base, {
    apiUrl: `${base.url}${ROOT}`,
    tokens,
    sent,
    marks,
    failNext: (to: string, codes: readonly number[]) => void failures.set(to, [...codes]),
    host: files.add,
    forget: files.forget,
  });
}

function sentOf(
  body: Body,
  to: string,
  messageId: string,
  find: (id: string) => StoredFile | undefined,
): ProviderASent {
  const type = String(body["type"] ?? "text");
  const content = body[type] as Body;
  const opaque = body["biz_opaque_callback_data"];
  const replies = repliesOf(body["interactive"]);
  const quotes = (body["context"] as Body | undefined)?.["message_id"];
  return {
    messageId,
    to,
    type,
    text: textOf(type, content),
    buttons: replies.map(({ title }) => title),
    replies,
    file: type === "text" || type === "interactive" ? undefined : find(String(content["id"])),
    quotes: quotes === undefined ? undefined : String(quotes),
    opaque: opaque === undefined ? undefined : String(opaque),
    body,
  };
}

function textOf(type: string, content: Body): string {
  const { body, caption } = content;
  if (type === "interactive") return String((body as Body)["text"]);
  return String((type === "text" ? body : caption) ?? "");
}
