/** What a mail says and comes with: its structure first, then its texts, of which no more is fetched than anybody reads. */
import { htmlToText } from "@svc/kit/mail";
import { UnreadableAnswer } from "../imap/failure.ts";
import { decoded, parsed } from "./decode.ts";
import { fileNameOf } from "./files.ts";
import { createHardMails } from "./hard-mails.ts";
import { invitationIn } from "./invitation.ts";
import type { NewMail } from "./new-mail.ts";
import { partBytes, sourceBytes } from "./part-bytes.ts";
import { contentsOf, type Part } from "./structure.ts";

export interface Body {
  readonly text: string;
  readonly files: readonly Part[];
  /** What a reader should know beside the text, in brackets. */
  readonly notes: readonly string[];
}

/** Throws as `Session.call`. */
export type BodyReader = (mail: NewMail, signal: AbortSignal) => Promise<Body>;

const MAX_PLAIN_BYTES = 524_288;
/** Mail programs put thousands of tags around a few words. */
const MAX_HTML_BYTES = 2_097_152;
const MAX_SOURCE_BYTES = 1_048_576;
const MAX_CALENDAR_BYTES = 262_144;
const MAX_CALENDARS = 3;

export function createBodyReader(): BodyReader {
  const hard = createHardMails();
  return async (mail, signal) => {
    const body = await hard.read(mail, [() => byStructure(mail, signal), () => bySource(mail, signal)]);
    return body ?? { text: "", files: [], notes: ["[the mail can't be read]"] };
  };
}

async function byStructure({ session, uid }: NewMail, signal: AbortSignal): Promise<Body> {
  const query = { uid: true, bodyStructure: true };
  const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
  const { texts, files, isEncrypted } = contentsOf(mail === false ? undefined : mail.bodyStructure);
  let isCut = false;
  const fetched = async (part: Part | undefined, maxBytes: number): Promise<string> => {
    if (part === undefined) return "";
    if (part.sizeBytes > maxBytes) isCut = true;
    return decoded(part, await partBytes(session, uid, part.id, maxBytes, signal));
  };
  const read: string[] = [];
  for (const { plain, html } of texts) {
    const text = (await fetched(plain, MAX_PLAIN_BYTES)).trim();
    read.push(text === "" ? htmlToText(await fetched(html, MAX_HTML_BYTES)).trim() : text);
  }
  const notes = new Set<string>();
  for (const part of files.filter(({ type }) => type === "text/calendar").slice(0, MAX_CALENDARS)) {
    const bytes = await partBytes(session, uid, part.id, MAX_CALENDAR_BYTES, signal);
    const invitation = invitationIn(await decoded({ ...part, type: "text/plain" }, bytes));
    if (invitation !== undefined) notes.add(invitation);
  }
  if (isEncrypted) notes.add("[the mail is encrypted and can't be read]");
  if (isCut) notes.add("[the mail's text is too long; its end is left out]");
  return { text: read.filter((text) => text !== "").join("\n\n"), files, notes: [...notes] };
}

/** Of a mail whose structure the server can't tell. Its files are named, and can't be fetched. */
async function bySource({ session, uid }: NewMail, signal: AbortSignal): Promise<Body> {
  const read = await parsed(await sourceBytes(session, uid, MAX_SOURCE_BYTES, signal));
  if (read === undefined) throw new UnreadableAnswer();
  const text = read.text.trim() || htmlToText(read.html).trim();
  return { text, files: [], notes: read.files.map((name) => `[a file that can't be fetched: ${fileNameOf(name)}]`) };
}
