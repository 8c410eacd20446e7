/** FETCH and SEARCH over stored mails, as far as a reader of mail uses them. RFC 9051, 6.4. */
import { bodyStructure } from "./body-structure.ts";
import { isInSet, literal, quoted, type Word } from "./imap-text.ts";
import type { Mailbox, StoredMail } from "./mailboxes.ts";
import { fieldOf, mimeOf, partAt } from "./mime.ts";

/** One item of a FETCH answer. Throws for one that it does not know. */
export function fetched(item: string, mail: StoredMail): string {
  const name = item.toUpperCase();
  if (name === "UID") return `UID ${mail.uid}`;
  if (name === "FLAGS") return `FLAGS (${[...mail.flags].join(" ")})`;
  if (name === "RFC822.SIZE") return `RFC822.SIZE ${mail.raw.length}`;
  if (name === "INTERNALDATE") return `INTERNALDATE ${quoted(dateTime(mail.cameMs))}`;
  if (name === "BODYSTRUCTURE") return `BODYSTRUCTURE ${bodyStructure(mimeOf(mail.raw))}`;
  const [, section = "", start, length] = /^BODY\.PEEK\[([^\]]*)\](?:<(\d+)\.(\d+)>)?$/.exec(name) ?? [];
  if (!name.startsWith("BODY.PEEK[")) throw new Error(`no fetch of ${name}`);
  const bytes = sectionOf(mail.raw, section);
  if (bytes === undefined) return `BODY[${section}] NIL`;
  const cut = start === undefined ? bytes : bytes.subarray(Number(start), Number(start) + Number(length));
  return `BODY[${section}]${start === undefined ? "" : `<${start}>`} ${literal(cut.toString("latin1"))}`;
}

function sectionOf(raw: Buffer, section: string): Buffer | undefined {
  if (section === "") return raw;
  const root = mimeOf(raw);
  if (section === "HEADER") return root.header;
  if (section === "TEXT") return root.body;
  const [, fields] = /^HEADER\.FIELDS \(([^)]*)\)$/.exec(section) ?? [];
  if (fields !== undefined) return only(root.header, fields.split(" "));
  const [, id, what] = /^(\d+(?:\.\d+)*)(?:\.(MIME|TEXT|HEADER))?$/.exec(section) ?? [];
  if (id === undefined) throw new Error(`no section ${section}`);
  const part = partAt(root, id);
  return what === "MIME" ? part?.header : part?.body;
}

function only(header: Buffer, names: readonly string[]): Buffer {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const fields = header.toString("latin1").split(/\r\n(?![ \t])/);
  const shown = fields.filter((field) => wanted.has(field.slice(0, field.indexOf(":")).trim().toLowerCase()));
  return Buffer.from([...shown, "", ""].join("\r\n"), "latin1");
}

/** Uids that fit all of these keys. */
export function found(keys: readonly Word[], mailbox: Mailbox): number[] {
  const last = mailbox.mails.at(-1)?.uid ?? 0;
  return mailbox.mails.filter((mail) => matcher(keys)(mail, last)).map(({ uid }) => uid);
}

type Matches = (mail: StoredMail, last: number) => boolean;

function matcher(keys: readonly Word[]): Matches {
  const rest = [...keys];
  const next = (): string => String(rest.shift());
  const key = (): Matches => {
    const word = rest.shift();
    if (Array.isArray(word)) return matcher(word);
    const name = String(word).toUpperCase();
    if (name === "ALL") return () => true;
    if (name === "UID") {
      const set = next();
      return (mail, last) => isInSet(set, mail.uid, last);
    }
    if (name === "HEADER") {
      const [field, text] = [next(), next().toLowerCase()];
      return ({ raw }) => fieldOf(mimeOf(raw).header, field).toLowerCase().includes(text);
    }
    if (name === "SINCE") {
      const from = Date.parse(`${next()} UTC`);
      return ({ cameMs }) => cameMs >= from;
    }
    if (name === "OR") {
      const [one, other] = [key(), key()];
      return (mail, last) => one(mail, last) || other(mail, last);
    }
    throw new Error(`no search by ${name}`);
  };
  const all: Matches[] = [];
  while (rest.length > 0) all.push(key());
  return (mail, last) => all.every((matches) => matches(mail, last));
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

function dateTime(ms: number): string {
  const date = new Date(ms);
  const day = String(date.getUTCDate()).padStart(2, "0");
  return `${day}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)} +0000`;
}
