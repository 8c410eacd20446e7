/** What a mail is made of, by the server's word (BODYSTRUCTURE): its texts, and the files beside them. RFC 2046, 5. */
import type { Headers } from "@svc/kit/mail";
import type { MessageStructureObject } from "imapflow";
import type { Session } from "./imap.ts";

/** A part that holds no others. */
export interface Part {
  /** Place in the mail, by which it is fetched: `1.2`. */
  readonly id: string;
  /** Lower case, `type/subtype`. */
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Transfer encoding, lower case. */
  readonly encoding: string;
  /** As it is transferred. */
  readonly sizeBytes: number;
  readonly fileName: string;
}

/** The same text in two forms; at least one is there. */
export interface TextChoice {
  readonly plain: Part | undefined;
  readonly html: Part | undefined;
}

export interface Contents {
  /** In their order. */
  readonly texts: readonly TextChoice[];
  readonly files: readonly Part[];
  /** No one but its recipient's mail program can read it. */
  readonly isEncrypted: boolean;
}

/** No one writes a mail with more; anyone who makes one must not keep us busy. */
const MAX_PARTS = 1000;
const MAX_TEXTS = 20;

export function contentsOf(root: MessageStructureObject | undefined): Contents {
  const found: Found = { texts: [], files: [], isEncrypted: false, left: MAX_PARTS };
  if (root !== undefined) walk(root, found);
  return { texts: found.texts.slice(0, MAX_TEXTS), files: found.files, isEncrypted: found.isEncrypted };
}

interface Found {
  readonly texts: TextChoice[];
  readonly files: Part[];
  isEncrypted: boolean;
  left: number;
}

function walk(node: MessageStructureObject, found: Found): void {
  if ((found.left -= 1) < 0) return;
  const type = (node.type ?? "").toLowerCase();
  const children = type.startsWith("multipart/") ? (node.childNodes ?? []) : [];
  if (type === "multipart/encrypted") {
    found.isEncrypted = true;
    return;
  }
  if (type.startsWith("multipart/")) {
    const texts = found.texts.length;
    for (const child of children) walk(child, found);
    if (type === "multipart/alternative") merge(found.texts, texts);
    return;
  }
  const part = partOf(node, type);
  const isText = (type === "text/plain" || type === "text/html") && !isFile(node, part);
  if (isText)
    found.texts.push(type === "text/plain" ? { plain: part, html: undefined } : { plain: undefined, html: part });
  else if (!IGNORED.has(type)) found.files.push(part);
}

/** Signatures, descriptions of encrypted mail, and duplicates of the text for smart watches. */
const IGNORED = new Set([
  "application/pgp-signature",
  "application/pkcs7-signature",
  "application/x-pkcs7-signature",
  "application/pgp-encrypted",
  "text/watch-html",
  "text/x-amp-html",
]);

/** Of alternatives the plain ones together, or the HTML ones. */
function merge(texts: TextChoice[], from: number): void {
  const [...choices] = texts.splice(from);
  const plain = choices.find((choice) => choice.plain !== undefined)?.plain;
  const html = choices.find((choice) => choice.html !== undefined)?.html;
  if (plain !== undefined || html !== undefined) texts.push({ plain, html });
}

const isFile = ({ disposition }: MessageStructureObject, { fileName }: Part): boolean =>
  fileName !== "" || disposition?.toLowerCase() === "attachment";

function partOf(node: MessageStructureObject, type: string): Part {
  const { parameters = {}, dispositionParameters = {}, encoding = "7bit", size = 0, envelope } = node;
  const name = dispositionParameters["filename"] ?? parameters["name"] ?? "";
  const subject = type === "message/rfc822" ? `${envelope?.subject?.trim() || "mail"}.eml` : "";
  return {
    // A mail that is one part has it as its first one (RFC 9051, 6.4.5.1).
    id: node.part ?? "1",
    type: /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "application/octet-stream",
    parameters,
    encoding: encoding.toLowerCase(),
    sizeBytes: size,
    fileName: name.trim() === "" ? subject : name,
  };
}

/** The beginning of a part, as it is transferred; nothing, when the mail is gone. Throws as `Session.call`. */
export async function partBytes(
  session: Session,
  uid: number,
  id: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const query = { uid: true, bodyParts: [{ key: id, start: 0, maxLength: maxBytes }] };
  const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
  const bytes = mail === false ? undefined : mail.bodyParts?.get(id.toLowerCase());
  // Some servers ignore the requested range and send all of it.
  return (bytes ?? Buffer.alloc(0)).subarray(0, maxBytes);
}

/** The beginning of the mail as it is. */
export async function sourceBytes(
  session: Session,
  uid: number,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const query = { uid: true, source: { start: 0, maxLength: maxBytes } };
  const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
  return ((mail === false ? undefined : mail.source) ?? Buffer.alloc(0)).subarray(0, maxBytes);
}

/** A mail with only its header fetched. */
export interface NewMail {
  /** Where the rest of it is. */
  readonly session: Session;
  readonly uid: number;
  readonly uidValidity: string;
  readonly headers: Headers;
  /** When the server got it, milliseconds since the epoch. */
  readonly cameMs: number | undefined;
}
