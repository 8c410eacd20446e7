/** Files that mails came with, from wherever the mail is by now. */
import { type FetchedMedia, type Media, SvcError } from "@svc/contract";
import type { MessageStructureObject } from "imapflow";
import type { Account } from "../account/account.ts";
import type { Errands } from "../imap/errands.ts";
import { imapFailure } from "../imap/failure.ts";
import { uidOf } from "../imap/find.ts";
import type { Session } from "../imap/session.ts";
import { decodedSize, type FileRef, fileRefOf } from "../mail/files.ts";
import { contentsOf, type Part } from "../mail/structure.ts";

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
