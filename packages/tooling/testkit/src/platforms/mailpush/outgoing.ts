/** Mail that is sent: taken apart by a parser of its own, and refused where it breaks RFC 5322. */
import type { Json } from "@svc/contract";
import PostalMime, { type Email } from "postal-mime";
import type { PlatformRequest } from "../base.ts";

export interface SentMail {
  readonly messageId: string;
  readonly threadId: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly inReplyTo: string | undefined;
  readonly references: readonly string[];
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly files: readonly { readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array }[];
}

export interface Posted {
  readonly raw: Buffer;
  readonly threadId: string | undefined;
  readonly labelIds: readonly string[] | undefined;
}

/** Of JSON, or of an upload with the mail as a part of its own. Undefined for anything else. */
export function postedOf({ headers, body, json, query }: PlatformRequest, isUpload: boolean): Posted | undefined {
  if (!isUpload) return fromJson(json);
  const boundary = /^multipart\/related; boundary=([\w-]{1,70})$/.exec(headers["content-type"] ?? "")?.[1];
  if (boundary === undefined || query.get("uploadType") !== "multipart") return undefined;
  const text = Buffer.from(body).toString("latin1");
  const parts = text.split(`--${boundary}`).slice(1, -1);
  const [meta, mail] = parts.map((part) => part.replace(/^\r\n/, "").replace(/\r\n$/, ""));
  const rest = (part: string | undefined): string => part?.slice(part.indexOf("\r\n\r\n") + 4) ?? "";
  if (parts.length !== 2 || !mail?.startsWith("Content-Type: message/rfc822")) return undefined;
  const { threadId, labelIds } = JSON.parse(rest(meta)) as { threadId?: string; labelIds?: string[] };
  return { raw: Buffer.from(rest(mail), "latin1"), threadId, labelIds };
}

/** The platform takes no more inside of JSON. */
const MAX_JSON_BYTES = 5_242_880;

function fromJson(json: Json | undefined): Posted | undefined {
  const { raw, threadId, labelIds } = (json ?? {}) as { raw?: unknown; threadId?: string; labelIds?: string[] };
  if (typeof raw !== "string" || !/^[\w-]+={0,2}$/.test(raw) || raw.length > MAX_JSON_BYTES) return undefined;
  return { raw: Buffer.from(raw, "base64url"), threadId, labelIds };
}

/** Throws where RFC 5322 is broken: the mail would be refused, or read otherwise by the next program. */
export async function mailOf(raw: Buffer): Promise<Omit<SentMail, "messageId" | "threadId">> {
  const text = raw.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const head = text.slice(0, end);
  demand(end > 0 && !/(?<!\r)\n|\r(?!\n)/.test(text), "line breaks are CRLF");
  demand(/^[\t\r\n -~]*$/.test(head), "headers are ASCII");
  demand(
    text.split("\r\n").every((line) => line.length <= 998),
    "lines have at most 998 characters",
  );
  const mail = await PostalMime.parse(raw, { attachmentEncoding: "arraybuffer" });
  for (const name of ["from", "to", "date", "message-id", "subject", "mime-version"]) {
    demand(mail.headers.filter(({ key }) => key === name).length === 1, `there is one ${name}`);
  }
  demand(
    mail.headers.every(({ key }) => KNOWN.has(key) || key.startsWith("x-")),
    "there are no headers that nobody meant",
  );
  return taken(mail);
}

const KNOWN = new Set(
  (
    "from to cc bcc date message-id subject mime-version in-reply-to references auto-submitted content-type " +
    "content-transfer-encoding content-disposition"
  ).split(" "),
);

const taken = (mail: Email): Omit<SentMail, "messageId" | "threadId"> => ({
  from: mail.from?.address ?? "",
  to: (mail.to ?? []).map(({ address }) => address ?? ""),
  subject: mail.subject ?? "",
  // What is shown; line breaks as people type them.
  text: (mail.text ?? "").replaceAll("\r\n", "\n").replace(/\n$/, ""),
  inReplyTo: mail.inReplyTo,
  references: mail.references?.split(/\s+/) ?? [],
  headers: new Map(mail.headers.map(({ key, value }) => [key, value])),
  files: mail.attachments.map(({ filename, mimeType, content }) => ({
    name: filename ?? "",
    mimeType,
    bytes: new Uint8Array(content as ArrayBuffer),
  })),
});

function demand(held: boolean, rule: string): asserts held {
  if (!held) throw new Error(`broken: ${rule}`);
}
