/** Sends a mail: an answer in its thread, or the first one of a new thread. */
import { type Channel, type Conversation, type OutgoingMessage, type Receipt, SvcError } from "@svc/contract";
import { type ThreadPlace, compose, mailboxOf, messageIdOf, subjectFor, threadPlaceOf } from "@svc/kit/mail";
import { hash } from "node:crypto";
import { domainToASCII } from "node:url";
import type { Account } from "./account.ts";
import { headersIn } from "./headers.ts";
import { type Errands, type Session, search } from "./imap.ts";
import type { Smtp } from "./smtp.ts";
import { type KnownThreads, keptReply } from "./threads.ts";
import type { Block, Cell, Inline, Item, Link, Table } from "@svc/kit/markdown";

export interface SendDeps {
  readonly account: Account;
  readonly smtp: Smtp;
  readonly errands: Errands;
  readonly sentFolder: SentFolder;
  readonly threads: KnownThreads;
}

export function createSend({ account, smtp, errands, sentFolder, threads }: SendDeps): Channel["send"] {
  const { config, clock } = account;
  const from = asciiDomain(config.address);

  return async (message, signal) => {
    signal.throwIfAborted();
    const { conversation, text, deliveryId, replyData } = message;
    const storedReply = keptReply(replyData);
    const to = storedReply?.to ?? recipientOf(conversation);
    // The same for every try: anyone who gets it twice has a program that shows it once.
    const key = hash("sha256", deliveryId).slice(0, KEY_CHARS);
    const messageId = `<${messageIdOf(key, from)}>`;
    if (await sentFolder.has(messageId, signal)) return receiptOf(messageId, to, conversation);
    const answers = storedReply ?? (await placeIn(conversation, text, signal));
    const [files, html] = await Promise.all([readFiles(message), htmlOf(text)]);
    const mail = await compose({
      from,
      fromName: config.display_name,
      to,
      text,
      html,
      answers,
      key,
      atMs: clock.now(),
      files,
    });
    const sent = await smtp.send({ to, mail }, signal);
    const known = sent.messageId ?? messageId;
    if (conversation.thread !== undefined) await threads.add(known, conversation.thread).catch(() => undefined);
    await sentFolder.keep(mail, signal);
    return receiptOf(known, to, conversation);
  };

  async function placeIn(
    { thread }: Conversation,
    text: string,
    signal: AbortSignal,
  ): Promise<ThreadPlace | undefined> {
    if (thread === undefined) return undefined;
    const place = await newestIn(thread, account, errands, signal);
    return place && (place.subject === "" ? { ...place, subject: subjectFor(text) } : place);
  }
}

/** Enough for no one to hit another one, and short enough for a Message-ID to stay on one line. */
const KEY_CHARS = 32;

/** A mail that begins a thread is answered there; so is one that someone else gets. */
function receiptOf(messageId: string, to: string, { channel, id, thread }: Conversation): Receipt {
  if (thread !== undefined && to === id) return { platformId: messageId };
  return { platformId: messageId, opened: { channel, id: to, thread: thread ?? messageId } };
}

function recipientOf({ id }: Conversation): string {
  const address = mailboxOf(id);
  if (address !== undefined) return address;
  throw new SvcError("DELIVERY_REFUSED", "A conversation's id is one mail address.");
}

const readFiles = ({ files = [] }: OutgoingMessage) =>
  Promise.all(files.map(async ({ name, mimeType, read }) => ({ name, mimeType, bytes: await read() })));

/** A Message-ID is ASCII (RFC 5322, 3.6.4), also for an internationalized domain. */
function asciiDomain(address: string): string {
  const at = address.lastIndexOf("@");
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1)) || "svc.invalid"}`;
}

/** The mailbox in which a person finds what was answered; and by which a retry finds out that it is none. */
export interface SentFolder {
  /** Whether a mail of this Message-ID is there. False when no one can say: nothing is held back for that. */
  has(messageId: string, signal: AbortSignal): Promise<boolean>;
  /** Puts it there. Never throws: the mail was sent. */
  keep(mail: Buffer, signal: AbortSignal): Promise<void>;
  /** Its name, or undefined when none is wanted. Throws CHANNEL_CANNOT, and as `Session.call`. */
  name(session: Session, signal: AbortSignal): Promise<string | undefined>;
}

export function createSentFolder({ config, log }: Pick<Account, "config" | "log">, errands: Errands): SentFolder {
  const { save_sent: wanted, mailbox } = config;
  let found: string | undefined = wanted === "auto" ? undefined : wanted;

  const name = async (session: Session, signal: AbortSignal): Promise<string | undefined> => {
    if (wanted === "off") return undefined;
    if (found !== undefined) return found;
    const list = await session.call((client) => client.list(), signal);
    // RFC 6154. What only looks like it by its name may be someone's folder.
    found = list.find(
      ({ specialUse, specialUseSource }) => specialUse === "\\Sent" && specialUseSource === "extension",
    )?.path;
    if (found !== undefined) return found;
    throw new SvcError("CHANNEL_CANNOT", "The IMAP server does not say which mailbox holds sent mail.", {
      hint: "Set save_sent to its name, or to off.",
    });
  };
  const place = (signal: AbortSignal) => errands.run(mailbox, (session) => name(session, signal), signal);
  const tell = (error: unknown, words: string): void => {
    log.warn(words, { reason: error instanceof SvcError ? error.code : "unknown" });
  };

  return {
    name,
    async has(messageId, signal) {
      if (wanted === "off") return false;
      try {
        const path = await place(signal);
        if (path === undefined) return false;
        const query = { header: { "message-id": messageId } };
        return (await errands.run(path, (session) => search(session, query, signal), signal)).length > 0;
      } catch (error) {
        signal.throwIfAborted();
        tell(error, "The mailbox of sent mail can't be looked at; whether a mail was sent before is not known.");
        return false;
      }
    },
    async keep(mail, signal) {
      if (wanted === "off") return;
      try {
        await errands.run(
          mailbox,
          async (session) => {
            const path = await name(session, signal);
            if (path !== undefined) await session.call((client) => client.append(path, mail, ["\\Seen"]), signal);
          },
          signal,
        );
      } catch (error) {
        tell(error, "An answer was sent, and can't be kept in the mailbox of sent mail.");
      }
    },
  };
}

// Where in a thread to answer when no one said which mail of it: the newest one in the mailbox.

/** Undefined for an invalid Message-ID; only the thread's first mail if the mailbox can't be searched. */
async function newestIn(
  thread: string,
  { config }: Pick<Account, "config">,
  errands: Errands,
  signal: AbortSignal,
): Promise<ThreadPlace | undefined> {
  if (!/^<[!-;=?-~]{1,250}>$/.test(thread)) return undefined;
  const beginning: ThreadPlace = { messageId: thread, references: [], subject: "" };
  try {
    return await errands.run(
      config.mailbox,
      async (session) => {
        const either = [{ header: { "message-id": thread } }, { header: { references: thread } }];
        const uid = (await search(session, { or: either }, signal)).at(-1);
        if (uid === undefined) return beginning;
        const query = { uid: true, headers: ["message-id", "references", "in-reply-to", "subject"] };
        const mail = await session.call((client) => client.fetchOne(String(uid), query, { uid: true }), signal);
        const place = mail === false ? beginning : threadPlaceOf(headersIn(mail.headers));
        return place.messageId === undefined ? beginning : place;
      },
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    // The answer is worth more than the place of it.
    if (error instanceof SvcError) return beginning;
    throw error;
  }
}

// An answer with fonts: Markdown as HTML that holds nothing but what Markdown says.

/** A longer text is sent as plain text only: HTML would double the size. */
const MAX_CHARS = 32_000;

/** Undefined: the plain text says it all. */
export async function htmlOf(markdown: string): Promise<string | undefined> {
  if (markdown.length > MAX_CHARS || markdown.trim() === "") return undefined;
  // Loaded late: only answers need it.
  const { readMarkdown } = await import("@svc/kit/markdown");
  const body = blocksOf(readMarkdown(markdown.toWellFormed()));
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n${body}\n</body></html>\n`;
}

const blocksOf = (blocks: readonly Block[]): string => blocks.map(blockOf).join("\n");

function blockOf(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${inlinesOf(block.inlines)}</p>`;
    case "heading":
      return `<h${block.level}>${inlinesOf(block.inlines)}</h${block.level}>`;
    case "rule":
      return "<hr>";
    case "definition":
      return `<p>${escaped(block.text)}</p>`;
    case "code":
      return `<pre><code>${escaped(block.text)}</code></pre>`;
    case "table":
      return tableOf(block);
    case "list":
      return listOf(block.items);
    case "quote":
      return `<blockquote>${blocksOf(block.blocks)}</blockquote>`;
  }
}

/** Numbers are as they were written: a list that goes on after a paragraph goes on counting. */
function listOf(items: readonly Item[]): string {
  const name = items[0]?.number === undefined ? "ul" : "ol";
  return `<${name}>\n${items.map(itemOf).join("\n")}\n</${name}>`;
}

const TASKS = { open: "☐ ", done: "☑ " } as const;

function itemOf({ number, task, blocks }: Item): string {
  const value = /^\d{1,9}/.exec(number ?? "")?.[0];
  const [first, ...rest] = blocks;
  // The first paragraph of an item is on the line of its mark.
  const begun = first?.kind === "paragraph" ? inlinesOf(first.inlines) : first === undefined ? "" : blockOf(first);
  const inner = [`${task === undefined ? "" : TASKS[task]}${begun}`, ...rest.map(blockOf)].join("\n");
  return `<li${value === undefined ? "" : ` value="${value}"`}>${inner}</li>`;
}

function tableOf({ rows, align }: Table): string {
  const row = (cells: readonly Cell[], name: "th" | "td"): string =>
    `<tr>${cells.map((cell, column) => `<${name}${alignOf(align[column])}>${inlinesOf(cell)}</${name}>`).join("")}</tr>`;
  const [head = [], ...others] = rows;
  return `<table>\n${[row(head, "th"), ...others.map((cells) => row(cells, "td"))].join("\n")}\n</table>`;
}

const alignOf = (align: Table["align"][number]): string => (align === undefined ? "" : ` align="${align}"`);

const TAGS = { bold: "strong", italic: "em", strike: "s" } as const;

const inlinesOf = (inlines: readonly Inline[]): string => inlines.map(inlineOf).join("");

function inlineOf(inline: Inline): string {
  switch (inline.kind) {
    case "text":
      return escaped(inline.text);
    case "break":
      return "<br>\n";
    case "code":
      return `<code>${escaped(inline.text)}</code>`;
    case "link":
      return linkOf(inline);
    default:
      return `<${TAGS[inline.kind]}>${inlinesOf(inline.children)}</${TAGS[inline.kind]}>`;
  }
}

/** A picture is a link to it: one that is loaded tells its server who reads, and when. */
function linkOf({ url, target, children }: Link): string {
  const label = inlinesOf(children).replaceAll(/<\/?a\b[^<>]*>/g, "") || escaped(target);
  return url === undefined ? label : `<a href="${escaped(url)}">${label}</a>`;
}

const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
