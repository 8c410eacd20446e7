/** Files that mails came with: named with the message, fetched when its turn comes. */
import { type FetchedMedia, type InboundMedia, type Media, SvcError } from "@svc/contract";
import { mediaKindOf } from "@svc/kit";
import type { MessageStructureObject } from "imapflow";
import type { Account } from "./account.ts";
import { type Errands, imapFailure, type Session, uidOf } from "./imap.ts";
import { contentsOf, type NewMail, type Part } from "./structure.ts";

/** More of them no one reads, and each is fetched. */
const MAX_FILES = 20;

export interface Files {
  readonly media: readonly InboundMedia[];
  /** What stands for them in the text. */
  readonly placeholders: readonly string[];
}

/** Where a file is; the Message-ID finds it when the mail was moved. */
interface FileRef {
  readonly uidValidity: string;
  readonly uid: number;
  readonly part: string;
  /** Blank: it has none. */
  readonly messageId: string;
}

export function filesOf(
  { uidValidity, uid }: Pick<NewMail, "uid" | "uidValidity">,
  messageId: string | undefined,
  parts: readonly Part[],
): Files {
  const media = parts.slice(0, MAX_FILES).map((part, index): InboundMedia => {
    const name = fileNameOf(part.fileName);
    return {
      kind: mediaKindOf(part.type),
      ref: `${uidValidity}/${uid}/${part.id}/${messageId ?? ""}`,
      placeholder: `[file ${index + 1}: ${name}, ${shownSize(part)}]`,
      mimeType: part.type,
      ...(part.fileName.trim() !== "" && { fileName: name }),
    };
  });
  const placeholders = media.map(({ placeholder }) => placeholder);
  const more = parts.length - media.length;
  return { media, placeholders: more > 0 ? [...placeholders, `[${more} more files]`] : placeholders };
}

/** Undefined for what `filesOf` did not write. */
function fileRefOf(ref: string): FileRef | undefined {
  const [, uidValidity, uid, part, messageId = ""] =
    /^(\d{1,20})\/(\d{1,10})\/(\d{1,4}(?:\.\d{1,4}){0,50})\/(<[!-;=?-~]{1,250}>)?$/.exec(ref) ?? [];
  if (uidValidity === undefined || uid === undefined || part === undefined) return undefined;
  return { uidValidity, uid: Number(uid), part, messageId };
}

/** As it may stand in a text and in a folder. */
export function fileNameOf(name: string): string {
  const clean = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}[\]]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return clean === "" ? "without a name" : clean.slice(0, MAX_NAME_CHARS).toWellFormed().trim();
}

const MAX_NAME_CHARS = 200;

/** base64 has four bytes for three, and line breaks. */
const decodedSize = ({ encoding, sizeBytes }: Pick<Part, "encoding" | "sizeBytes">): number =>
  encoding === "base64" ? Math.floor((sizeBytes * 3 * 76) / (4 * 78)) : sizeBytes;

function shownSize(part: Part): string {
  const bytes = decodedSize(part);
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

type Write = (chunk: Uint8Array) => Promise<void>;

/** So much is asked for at once. */
const CHUNK_BYTES = 262_144;
/** Line lengths are a guess: what is this near to the limit is counted. */
const MARGIN = 0.95;

export function createMedia({ config }: Pick<Account, "config">, errands: Errands): Media {
  const maxBytes = config.max_attachment_mb * 1_048_576;
  const mailboxes = [config.mailbox, ...(config.processed_mailbox === undefined ? [] : [config.processed_mailbox])];
  return {
    maxBytes,
    sends: ["image", "audio", "video", "document", "sticker"],
    async fetch({ ref }, write, signal) {
      signal.throwIfAborted();
      const file = fileRefOf(ref);
      if (file === undefined) throw gone();
      for (const mailbox of mailboxes) {
        const fetched = await errands.run(
          mailbox,
          (session) => fetchFrom(session, file, { maxBytes, write }, signal),
          signal,
        );
        if (fetched !== undefined) return fetched;
      }
      throw gone();
    },
  };
}

const gone = (): SvcError => new SvcError("MEDIA_REFUSED", "The mail, or the file in it, is gone.");

/** Undefined: the mail is not in this mailbox. */
async function fetchFrom(
  session: Session,
  file: FileRef,
  to: { readonly maxBytes: number; readonly write: Write },
  signal: AbortSignal,
): Promise<FetchedMedia | undefined> {
  const uid = await placeOf(session, file, signal);
  if (uid === undefined) return undefined;
  const part = await partOf(session, uid, file.part, signal);
  if (part === undefined) throw gone();
  if (decodedSize(part) * MARGIN > to.maxBytes) throw tooLarge(to.maxBytes);
  await download(session, uid, part, to, signal);
  return { mimeType: part.type };
}

async function placeOf(session: Session, file: FileRef, signal: AbortSignal): Promise<number | undefined> {
  if (file.uidValidity === session.uidValidity) {
    const query = { uid: true };
    const mail = await session.call((client) => client.fetchOne(String(file.uid), query, { uid: true }), signal);
    if (mail !== false) return file.uid;
  }
  return file.messageId === "" ? undefined : uidOf(session, file.messageId, signal);
}

async function partOf(session: Session, uid: number, id: string, signal: AbortSignal): Promise<Part | undefined> {
  const query = { uid: true, bodyStructure: true };
  const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
  const structure: MessageStructureObject | undefined = mail === false ? undefined : mail.bodyStructure;
  return contentsOf(structure).files.find((one) => one.id === id);
}

async function download(
  session: Session,
  uid: number,
  { id }: Part,
  { maxBytes, write }: { readonly maxBytes: number; readonly write: Write },
  signal: AbortSignal,
): Promise<void> {
  const options = { uid: true, chunkSize: CHUNK_BYTES, decodeText: false };
  const { content } = await session.call((client) => client.download(String(uid), id, options), signal);
  if (content === undefined) throw gone();
  const stop = (): void => void content.destroy();
  signal.addEventListener("abort", stop, { once: true });
  let total = 0;
  const chunks = content[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      // What fails here is the server's; what `write` throws is not.
      const { done, value } = await chunks.next().catch((error: unknown) => {
        signal.throwIfAborted();
        throw imapFailure(error);
      });
      signal.throwIfAborted();
      if (done === true) return;
      total += value.length;
      if (total > maxBytes) throw tooLarge(maxBytes);
      await write(value);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    content.destroy();
  }
}

const tooLarge = (maxBytes: number): SvcError =>
  new SvcError("MEDIA_REFUSED", `The file is larger than ${Math.floor(maxBytes / 1_048_576)} MiB.`);
