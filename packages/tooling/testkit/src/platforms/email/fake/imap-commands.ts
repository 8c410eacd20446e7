/** What an IMAP server does with each command, and what it answers. RFC 9051, 6; UIDPLUS, MOVE, IDLE, SPECIAL-USE, XOAUTH2. */
import { found, fetched } from "./imap-fetch.ts";
import { isInSet, quoted, type Word } from "./imap-text.ts";
import type { Mailbox, StoredMail } from "./mailboxes.ts";

export interface ImapAccount {
  readonly capabilities: readonly string[];
  readonly mailboxes: ReadonlyMap<string, Mailbox>;
  mayEnter(login: { readonly user: string; readonly password?: string; readonly token?: string }): boolean;
}

/** One client. */
export interface ImapClient {
  isSignedIn: boolean;
  selected: Mailbox | undefined;
  /** Uids as this client knows them: the place in it is the sequence number. */
  view: number[];
  /** An untagged answer. */
  tell(line: string): void;
  /** Asks for more, and resolves with the line that comes. */
  ask(prompt: string): Promise<string>;
  /** Until the client says DONE. */
  idle(): Promise<void>;
}

/** What is refused: `NO` and `BAD`, with a code where there is one. */
export class ImapRefusal extends Error {
  readonly status: "NO" | "BAD";
  constructor(status: "NO" | "BAD", text: string) {
    super(text);
    this.status = status;
  }
}

const no = (text: string): ImapRefusal => new ImapRefusal("NO", text);
const bad = (text: string): ImapRefusal => new ImapRefusal("BAD", text);

/** The text of its OK. */
export async function execute(
  account: ImapAccount,
  client: ImapClient,
  [name = "", ...words]: readonly Word[],
): Promise<string> {
  const command = String(name).toUpperCase();
  if (command === "CAPABILITY") {
    client.tell(`CAPABILITY ${account.capabilities.join(" ")}`);
    return "done";
  }
  if (command === "NOOP" || command === "LOGOUT") return "done";
  if (command === "ID") {
    client.tell('ID ("name" "fake")');
    return "done";
  }
  if (command === "AUTHENTICATE") return authenticate(account, client, words.map(String));
  if (!client.isSignedIn) throw bad("sign in first");
  if (command === "SELECT") return select(account, client, String(words[0]));
  if (command === "LIST") return list(account, client, String(words[0]), words.flat().map(String));
  if (command === "LSUB") return "done";
  if (command === "NAMESPACE") {
    client.tell('NAMESPACE (("" "/")) NIL NIL');
    return "done";
  }
  if (command === "STATUS") return status(account, client, String(words[0]), (words[1] ?? []) as readonly string[]);
  if (command === "APPEND") return append(account, words);
  if (command === "IDLE" && account.capabilities.includes("IDLE")) {
    await client.idle();
    return "done";
  }
  const { selected } = client;
  if (selected === undefined) throw bad("select a mailbox first");
  if (command === "UID") return byUid(account, client, selected, words);
  if (command === "FETCH") return fetchBySequence(client, selected, words);
  throw bad(`no such command: ${command}`);
}

async function authenticate(account: ImapAccount, client: ImapClient, words: readonly string[]): Promise<string> {
  const [mechanism = "", initial] = words;
  const how = mechanism.toUpperCase();
  if (!account.capabilities.includes(`AUTH=${how}`)) throw no("[CANNOT] no such mechanism");
  const said = Buffer.from(initial ?? (await client.ask("")), "base64").toString("utf8");
  if (how === "PLAIN") {
    const [, user = "", password = ""] = said.split("\0");
    client.isSignedIn = account.mayEnter({ user, password });
  } else {
    const [user = "", token = "", ...ends] = said.split("\u0001");
    const isSound = user.startsWith("user=") && token.startsWith("auth=Bearer ") && ends.join() === ",";
    client.isSignedIn = isSound && account.mayEnter({ user: user.slice(5), token: token.slice(12) });
    const why = Buffer.from('{"status":"401","schemes":"bearer"}').toString("base64");
    if (!client.isSignedIn) await client.ask(why);
  }
  if (!client.isSignedIn) throw no("[AUTHENTICATIONFAILED] Invalid credentials");
  return `[CAPABILITY ${account.capabilities.join(" ")}] signed in`;
}

function mailboxOf({ mailboxes }: ImapAccount, name: string): Mailbox {
  const mailbox = mailboxes.get(/^inbox$/i.test(name) ? "INBOX" : name);
  if (mailbox === undefined) throw no("[NONEXISTENT] There is no such mailbox");
  return mailbox;
}

function select(account: ImapAccount, client: ImapClient, name: string): string {
  const mailbox = mailboxOf(account, name);
  client.selected = mailbox;
  client.view = mailbox.mails.map(({ uid }) => uid);
  client.tell("FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)");
  client.tell("OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft \\*)] Flags");
  client.tell(`${client.view.length} EXISTS`);
  client.tell("0 RECENT");
  client.tell(`OK [UIDVALIDITY ${mailbox.uidValidity}] UIDs valid`);
  client.tell(`OK [UIDNEXT ${mailbox.uidNext}] Predicted next UID`);
  return "[READ-WRITE] selected";
}

function list(account: ImapAccount, client: ImapClient, reference: string, words: readonly string[]): string {
  const pattern = words.find((word, index) => index > 0 && word !== "SUBSCRIBED") ?? "*";
  if (reference === "" && pattern === "") client.tell('LIST (\\Noselect) "/" ""');
  for (const [name, { specialUse }] of account.mailboxes) {
    if (pattern !== "*" && pattern !== "%" && pattern !== name) continue;
    client.tell(`LIST (\\HasNoChildren${specialUse === undefined ? "" : ` ${specialUse}`}) "/" ${quoted(name)}`);
  }
  return "done";
}

function status(account: ImapAccount, client: ImapClient, name: string, items: readonly string[]): string {
  const { mails, uidNext, uidValidity } = mailboxOf(account, name);
  const values: Readonly<Record<string, number>> = {
    MESSAGES: mails.length,
    UIDNEXT: uidNext,
    UIDVALIDITY: uidValidity,
  };
  const pairs = items.map((item) => `${item.toUpperCase()} ${values[item.toUpperCase()] ?? 0}`);
  client.tell(`STATUS ${quoted(name)} (${pairs.join(" ")})`);
  return "done";
}

function append(account: ImapAccount, words: readonly Word[]): string {
  const mailbox = mailboxOf(account, String(words[0]));
  const flags = words.slice(1, -1).find((word) => Array.isArray(word)) ?? [];
  const { uid } = mailbox.add(Buffer.from(String(words.at(-1)), "latin1"), flags as readonly string[]);
  return `[APPENDUID ${mailbox.uidValidity} ${uid}] appended`;
}

function byUid(account: ImapAccount, client: ImapClient, mailbox: Mailbox, [name, ...words]: readonly Word[]): string {
  const command = String(name).toUpperCase();
  if (command === "SEARCH") {
    const list = words[0] === "RETURN" ? words.slice(2) : words;
    // What it was not told of is not there for a client.
    const known = found(list, mailbox).filter((uid) => client.view.includes(uid));
    client.tell(["SEARCH", ...known].join(" "));
    return "done";
  }
  const [set = "", what = "", flags = []] = words;
  const last = mailbox.mails.at(-1)?.uid ?? 0;
  const mails = mailbox.mails.filter(({ uid }) => isInSet(String(set), uid, last));
  if (command === "FETCH") {
    for (const mail of mails) tellFetch(client, mail, [what].flat() as readonly string[]);
    return "done";
  }
  if (command === "STORE") {
    for (const mail of mails) store(client, mail, String(what), [flags].flat() as readonly string[]);
    return "done";
  }
  if (command === "MOVE" || command === "COPY") {
    const to = mailboxOf(account, String(what));
    const uids = mails.map((mail) => to.add(mail.raw, [...mail.flags], mail.cameMs).uid);
    if (uids.length === 0) return "nothing to move";
    const copied = `[COPYUID ${to.uidValidity} ${mails.map(({ uid }) => uid).join(",")} ${uids.join(",")}]`;
    if (command === "COPY") return copied;
    client.tell(`OK ${copied} moved`);
    for (const { uid } of mails) mailbox.remove(uid);
    return "done";
  }
  throw bad(`no such command: UID ${command}`);
}

function fetchBySequence(client: ImapClient, mailbox: Mailbox, [set = "", what = ""]: readonly Word[]): string {
  for (const mail of mailbox.mails) {
    const sequence = client.view.indexOf(mail.uid) + 1;
    if (sequence > 0 && isInSet(String(set), sequence, client.view.length))
      tellFetch(client, mail, [what].flat() as readonly string[]);
  }
  return "done";
}

function tellFetch(client: ImapClient, mail: StoredMail, items: readonly string[]): void {
  const sequence = client.view.indexOf(mail.uid) + 1;
  if (sequence === 0) return;
  const wanted = items.some((item) => item.toUpperCase() === "UID") ? items : ["UID", ...items];
  client.tell(`${sequence} FETCH (${wanted.map((item) => fetched(item, mail)).join(" ")})`);
}

function store(client: ImapClient, mail: StoredMail, what: string, flags: readonly string[]): void {
  const [, sign, silent] = /^([+-])FLAGS(\.SILENT)?$/i.exec(what) ?? [];
  if (sign === undefined) throw bad("no such way to store flags");
  for (const flag of flags) {
    if (sign === "+") mail.flags.add(flag);
    else mail.flags.delete(flag);
  }
  if (silent === undefined) tellFetch(client, mail, ["UID", "FLAGS"]);
}
