/** Files of a mail: named with the message, fetched when its turn comes. */
import { type FeatureContext, type FetchedMedia, type InboundMedia, type Media, SvcError } from "@svc/contract";
import { mediaKindOf } from "@svc/kit";
import type { MailApi } from "./api.ts";
import { type Leaf, type Mail, readMail } from "./mail.ts";

/** The platform takes no larger mail. */
const MAX_BYTES = 26_214_400;
/** More of them no one reads, and each is a request. */
const MAX_FILES = 20;

export interface Attachments {
  readonly media: readonly InboundMedia[];
  /** What stands for them in the text. */
  readonly placeholders: readonly string[];
}

export function attachmentsOf({ id, leaves }: Pick<Mail, "id" | "leaves">): Attachments {
  const files = leaves.filter(isFile);
  const media = files.slice(0, MAX_FILES).map((leaf, index) => mediaOf(id, leaf, index + 1));
  const placeholders = media.map(({ placeholder }) => placeholder);
  const more = files.length - media.length;
  return { media, placeholders: more > 0 ? [...placeholders, `[${more} more files]`] : placeholders };
}

const isFile = ({ attachmentId, isAttached, data }: Leaf): boolean =>
  attachmentId !== undefined || (isAttached && data !== undefined);

function mediaOf(messageId: string, leaf: Leaf, number: number): InboundMedia {
  const fileName = leaf.fileName.replaceAll(/[\p{Cc}[\]]+/gu, " ").trim();
  const mimeType = /^[\w.+-]+\/[\w.+-]+$/.test(leaf.mimeType) ? leaf.mimeType : undefined;
  return {
    kind: mediaKindOf(leaf.mimeType),
    // Attachment ids change with each request for the mail; the part's position does not.
    ref: `${messageId}/${leaf.partId}`,
    placeholder: `[file ${number}: ${fileName === "" ? "without a name" : fileName}]`,
    ...(mimeType !== undefined && { mimeType }),
    ...(fileName !== "" && { fileName }),
  };
}

export function createMedia(api: MailApi, { log }: Pick<FeatureContext, "log">): Media {
  return {
    maxBytes: MAX_BYTES,
    sends: ["image", "audio", "video", "document", "sticker"],
    async fetch({ ref }, write, signal) {
      signal.throwIfAborted();
      const [messageId, leaf] = await find(api, ref, log, signal).catch(asMedia);
      if (leaf.sizeBytes > MAX_BYTES) throw new SvcError("MEDIA_REFUSED", "The file is larger than 25 MiB.");
      if (leaf.attachmentId === undefined) await write(Buffer.from(leaf.data ?? "", "base64"));
      else
        await download(
          api,
          `messages/${messageId}/attachments/${encodeURIComponent(leaf.attachmentId)}`,
          leaf,
          write,
          signal,
        );
      return typeOf(leaf);
    },
  };
}

async function find(
  api: MailApi,
  ref: string,
  log: FeatureContext["log"],
  signal: AbortSignal,
): Promise<[messageId: string, leaf: Leaf]> {
  const [, messageId, partId] = /^([A-Za-z0-9_-]{1,100})\/([0-9.]{0,100})$/.exec(ref) ?? [];
  const mail = messageId === undefined ? undefined : await readMail(api, messageId, log, signal);
  const leaf = mail?.leaves.find((one) => one.partId === partId && isFile(one));
  if (messageId !== undefined && leaf !== undefined) return [messageId, leaf];
  throw new SvcError("MEDIA_REFUSED", "The mail, or the file in it, is gone.");
}

async function download(
  api: MailApi,
  path: string,
  { sizeBytes }: Leaf,
  write: (chunk: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const field = base64Field("data", MAX_BYTES, write);
  await api.download(path, { maxBytes: MAX_ANSWER_BYTES, write: field.take }, signal).catch(asMedia);
  field.end(sizeBytes);
}

/** base64 of the largest file, and what is around it. */
const MAX_ANSWER_BYTES = Math.ceil((MAX_BYTES * 4) / 3) + 65_536;

const typeOf = ({ mimeType }: Leaf): FetchedMedia => (/^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? { mimeType } : {});

/** Nothing was sent here that could be refused; and a file that leads to another host will not do so less. */
function asMedia(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { code, message, retryAfterMs } = error;
  if (code === "ADDRESS_REFUSED") throw new SvcError("MEDIA_REFUSED", message, { cause: error });
  if (code !== "DELIVERY_FAILED") throw error;
  throw new SvcError("REMOTE_UNREACHABLE", message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/**
 * The bytes in one base64 text of a JSON answer, as they come: read as a whole, a file of 25 MiB would take five times that
 * much memory.
 */
export interface Base64Field {
  take(chunk: Uint8Array): Promise<void>;
  /** Throws REMOTE_UNREACHABLE unless the text came to its end, with this many bytes in it. */
  end(sizeBytes: number): void;
}

/** Throws MEDIA_REFUSED where there are more than `maxBytes`; what `write` throws comes out as it is. */
export function base64Field(name: string, maxBytes: number, write: (bytes: Uint8Array) => Promise<void>): Base64Field {
  const beginning = new RegExp(`"${name}"\\s*:\\s*"`);
  /** Before the text: the end of what came. In it: up to three characters that wait for the fourth. */
  let rest = "";
  let state: "before" | "inside" | "after" = "before";
  let total = 0;

  const decode = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text, "base64");
    if (bytes.length === 0) return;
    total += bytes.length;
    if (total > maxBytes) throw new SvcError("MEDIA_REFUSED", "The file is larger than 25 MiB.");
    await write(bytes);
  };

  return {
    async take(chunk) {
      let text = rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
      if (state === "before") {
        const found = beginning.exec(text);
        rest = text.slice(-MAX_BEGINNING_CHARS);
        if (found === null) return;
        state = "inside";
        text = text.slice(found.index + found[0].length);
      }
      if (state === "after") return;
      const end = text.indexOf('"');
      if (end >= 0) state = "after";
      const whole = end >= 0 ? end : text.length - (text.length % 4);
      rest = end >= 0 ? "" : text.slice(whole);
      await decode(text.slice(0, whole));
    },
    end(sizeBytes) {
      if (state === "after" && total === sizeBytes) return;
      throw new SvcError("REMOTE_UNREACHABLE", "The file did not come whole.");
    },
  };
}

/** `"data": "`, with white space as no one writes it. */
const MAX_BEGINNING_CHARS = 64;
