/** One mail as the platform tells it. */
import { type Logger, SvcError } from "@svc/contract";
import { pathPart } from "@svc/kit";
import { type HeaderField, type Headers, headersFrom, htmlToText, parameterOf } from "@svc/kit/mail";
import { decodeHTML } from "entities";
import { isUtf8 } from "node:buffer";
import * as v from "valibot";
import type { MailApi } from "./api.ts";

export interface Mail {
  readonly id: string;
  readonly threadId: string;
  readonly labelIds: readonly string[];
  /** The beginning of its text, as HTML. */
  readonly snippet: string;
  /** When the platform took it; 0: it does not say. */
  readonly internalDateMs: number;
  readonly headers: Headers;
  /** Its parts that hold no others, in their order. */
  readonly leaves: readonly Leaf[];
}

const answer = v.object({
  id: v.pipe(v.string(), v.nonEmpty()),
  threadId: v.optional(v.pipe(v.string(), v.nonEmpty())),
  labelIds: v.fallback(v.array(v.string()), []),
  snippet: v.fallback(v.string(), ""),
  internalDate: v.pipe(
    v.fallback(v.union([v.string(), v.number()]), 0),
    v.transform(Number),
    v.check((ms) => Number.isFinite(ms)),
  ),
  payload: v.fallback(v.unknown(), undefined),
});

/** Undefined: it is gone, or the platform does not show it. */
export async function readMail(api: MailApi, id: string, log: Logger, signal: AbortSignal): Promise<Mail | undefined> {
  try {
    const mail = await asked(api, id, "full", signal);
    if (mail === "gone") return undefined;
    if (mail !== undefined) return mail;
    const beginning = await asked(api, id, "metadata", signal);
    return beginning === "gone" ? undefined : beginning;
  } catch (error) {
    // It must not stand in the way of all that came after it.
    if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
    log.warn("A mail can't be read and is left out.", { mail: id });
    return undefined;
  }
}

/** Without what is attached. */
const MAX_BYTES = 8_388_608;

/** `metadata`: without text, for a mail that is too large. */
async function asked(
  api: MailApi,
  id: string,
  format: "full" | "metadata",
  signal: AbortSignal,
): Promise<Mail | "gone" | undefined> {
  const request = {
    path: `messages/${pathPart(id)}`,
    query: { format },
    answers: [404],
    maxBytes: MAX_BYTES,
  };
  const { status, json } = await api.call(request, signal);
  if (status === 404) return "gone";
  const parsed = v.safeParse(answer, json);
  if (!parsed.success) return undefined;
  const { payload, internalDate: internalDateMs, threadId = parsed.output.id, ...rest } = parsed.output;
  return { ...rest, threadId, internalDateMs, headers: headersOf(payload), leaves: leavesOf(payload) };
}

/** The MIME tree of a mail, as the leaves that matter. */
export interface Leaf {
  /** Place in the tree; stays the same each time it is asked for, as the ids of attachments do not. */
  readonly partId: string;
  /** Lower case. */
  readonly mimeType: string;
  readonly charset: string | undefined;
  readonly fileName: string;
  /** Shown as a file beside the text. */
  readonly isAttached: boolean;
  /** base64url; undefined where it has to be fetched. */
  readonly data: string | undefined;
  readonly attachmentId: string | undefined;
  readonly sizeBytes: number;
}

const anyText = v.fallback(v.string(), "");
const part = v.object({
  partId: anyText,
  mimeType: anyText,
  filename: anyText,
  body: v.fallback(
    v.object({
      size: v.fallback(v.number(), 0),
      data: v.fallback(v.optional(v.string()), undefined),
      attachmentId: v.fallback(v.optional(v.string()), undefined),
    }),
    { size: 0, data: undefined, attachmentId: undefined },
  ),
  parts: v.fallback(v.array(v.unknown()), []),
});

/** No one writes a mail with more; anyone who makes one must not keep us busy. */
const MAX_PARTS = 1000;

export function leavesOf(payload: unknown): Leaf[] {
  const leaves: Leaf[] = [];
  const waiting: unknown[] = [payload];
  for (let count = 0; waiting.length > 0 && count < MAX_PARTS; count += 1) {
    const raw = waiting.pop();
    const parsed = v.safeParse(part, raw);
    if (!parsed.success) continue;
    // The first of its parts is the next one.
    if (parsed.output.parts.length > 0) waiting.push(...parsed.output.parts.slice(0, MAX_PARTS).toReversed());
    else leaves.push(leafOf(parsed.output, raw));
  }
  return leaves;
}

function leafOf({ partId, mimeType, filename, body }: v.InferOutput<typeof part>, raw: unknown): Leaf {
  const headers = headersOf(raw);
  const isAttached = filename !== "" || /^\s*attachment\b/i.test(headers.get("content-disposition"));
  return {
    partId,
    mimeType: mimeType.toLowerCase(),
    charset: parameterOf(headers.get("content-type"), "charset"),
    fileName: filename,
    isAttached,
    data: body.data,
    attachmentId: body.attachmentId,
    sizeBytes: body.size,
  };
}

/** Header fields as the platform tells them. */
const holder = v.object({ headers: v.array(v.unknown()) });
const field = v.object({ name: v.string(), value: v.string() });

/** Headers of a mail or of one of its parts; invalid fields are dropped. */
export function headersOf(part: unknown): Headers {
  const parsed = v.safeParse(holder, part);
  return headersFrom(parsed.success ? fieldsOf(parsed.output.headers) : []);
}

function* fieldsOf(list: readonly unknown[]): Generator<HeaderField> {
  for (const one of list) {
    const { success, output } = v.safeParse(field, one);
    if (success) yield [output.name, output.value];
  }
}

/** What a mail says: its plain text, else its HTML as text, else the beginning that the platform tells. */
export function bodyText({ leaves, snippet }: Pick<Mail, "leaves" | "snippet">): string {
  const inline = leaves.filter(({ isAttached }) => !isAttached);
  const texts = (mimeType: string, read: (text: string) => string): string[] =>
    inline.flatMap((leaf) => (leaf.mimeType === mimeType ? read(decoded(leaf)).trim() || [] : []));
  const plain = texts("text/plain", (text) => text.replaceAll(/\r\n?/g, "\n"));
  if (plain.length > 0) return plain.join("\n\n");
  const html = texts("text/html", htmlToText);
  return html.length > 0 ? html.join("\n\n") : decodeHTML(snippet).trim();
}

/** The platform converts to UTF-8; if it did not, the mail's own charset counts. */
function decoded({ data = "", charset }: Leaf): string {
  const bytes = Buffer.from(data, "base64");
  return decoderOf(isUtf8(bytes) ? "utf-8" : (charset ?? "windows-1252")).decode(bytes);
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
