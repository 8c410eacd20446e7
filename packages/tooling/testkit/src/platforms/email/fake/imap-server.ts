/** An IMAP server on loopback: lines and literals, one command after the other, and moods. */
import { createServer, type Server, type Socket } from "node:net";
import { execute, type ImapAccount, type ImapClient, ImapRefusal } from "./imap-commands.ts";
import { wordsOf } from "./imap-text.ts";
import { createLines, reset } from "./lines.ts";
import type { MailMood, MailMoods } from "./mail-mood.ts";

export interface ImapServer {
  readonly port: number;
  /** Ends all connections. */
  disconnect(): void;
  close(): Promise<void>;
}

export async function startImapServer(account: ImapAccount, moods: MailMoods): Promise<ImapServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    // Its answers are many small writes.
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    void serve(socket, account, moods).catch((error: unknown) => {
      // A mistake of the fake shows as one.
      socket.end(`* BYE the fake failed: ${String(error)}\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const disconnect = (): void => {
    for (const socket of sockets) reset(socket);
  };
  return {
    port: (server.address() as { port: number }).port,
    disconnect,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        disconnect();
      }),
  };
}

async function serve(socket: Socket, account: ImapAccount, moods: MailMoods): Promise<void> {
  const lines = createLines(socket);
  const say = (line: string): void => void socket.write(Buffer.from(`${line}\r\n`, "latin1"));
  const greeting = await moods.of({ protocol: "imap", line: "" });
  if (!begins(greeting, socket)) return;
  const client: ImapClient = {
    isSignedIn: false,
    selected: undefined,
    view: [],
    tell: (line) => say(`* ${line}`),
    async ask(prompt) {
      say(`+ ${prompt}`);
      return (await lines.next()) ?? "";
    },
    async idle() {
      say("+ idling");
      const { selected } = client;
      const tell = (): void => update(client);
      selected?.listeners.add(tell);
      update(client);
      const line = await lines.next();
      selected?.listeners.delete(tell);
      if (line !== undefined && line.toUpperCase() !== "DONE") throw new ImapRefusal("BAD", "expected DONE");
    },
  };
  say(`* OK [CAPABILITY ${account.capabilities.join(" ")}] ready`);
  for (let line = await command(lines, say); line !== undefined; line = await command(lines, say)) {
    const [, tag = "*", rest = ""] = /^(\S+) (.*)$/s.exec(line) ?? [];
    const mood = await moods.of({ protocol: "imap", line: rest });
    if (reacted(mood, rest, tag, socket, say)) continue;
    try {
      const text = await execute(account, client, wordsOf(rest));
      if (mood === "loses answers") return reset(socket);
      update(client);
      say(`${tag} OK ${text}`);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      say(error instanceof ImapRefusal ? `${tag} ${error.status} ${error.message}` : `${tag} BAD ${error.message}`);
    }
    if (/^LOGOUT/i.test(rest)) return void socket.end("* BYE\r\n");
  }
}

/** With its literals, which are asked for. */
async function command(
  lines: ReturnType<typeof createLines>,
  say: (line: string) => void,
): Promise<string | undefined> {
  let whole = await lines.next();
  for (;;) {
    const [, length, isPlus] = /\{(\d+)(\+?)\}$/.exec(whole ?? "") ?? [];
    if (whole === undefined || length === undefined) return whole;
    if (isPlus !== "+") say("+ go on");
    const bytes = await lines.bytes(Number(length));
    const rest = await lines.next();
    if (bytes === undefined || rest === undefined) return undefined;
    whole += `\r\n${bytes}${rest}`;
  }
}

/** Tells what came and went since the client was told last. */
function update(client: ImapClient): void {
  const { selected } = client;
  if (selected === undefined) return;
  const now = selected.mails.map(({ uid }) => uid);
  for (const uid of client.view) {
    if (now.includes(uid)) continue;
    client.tell(`${client.view.indexOf(uid) + 1} EXPUNGE`);
    client.view = client.view.filter((known) => known !== uid);
  }
  if (now.length === client.view.length) return;
  client.view = now;
  client.tell(`${now.length} EXISTS`);
}

function begins(mood: MailMood, socket: Socket): boolean {
  if (mood === "resets") reset(socket);
  else if (typeof mood === "object" && "babbles" in mood) socket.end(`${mood.babbles}\r\n`);
  else if (isOutOfOrder(mood)) socket.end("* BYE [UNAVAILABLE] Out of order\r\n");
  else return mood !== "hangs";
  return false;
}

const isOutOfOrder = (mood: MailMood): boolean => typeof mood === "object" && "refuses" in mood && mood.refuses >= 500;

/** Whether the mood has answered the command, or ended the connection. */
function reacted(mood: MailMood, line: string, tag: string, socket: Socket, say: (line: string) => void): boolean {
  if (mood === "takes" || mood === "loses answers") return false;
  const isLogin = /^AUTHENTICATE/i.test(line);
  if (mood === "resets") reset(socket);
  else if (mood === "hangs") return true;
  else if ("babbles" in mood) socket.end(`${mood.babbles}\r\n`);
  // With all that was said, as some servers do.
  else if ("rateLimits" in mood) say(`${tag} NO [LIMIT] Try again in ${mood.rateLimits} seconds; ${shown(line)}`);
  else if ("redirects" in mood) say(`${tag} NO [REFERRAL ${mood.redirects}] ${shown(line)}`);
  else if (isOutOfOrder(mood)) socket.end("* BYE [UNAVAILABLE] Out of order\r\n");
  else if (mood.refuses === 401 && isLogin) say(`${tag} NO [AUTHENTICATIONFAILED] ${shown(line)}`);
  else if (mood.refuses === 404) return isGone(line, tag, say);
  else if (isLogin || /^CAPABILITY/i.test(line)) return false;
  else say(`${tag} NO [CANNOT] ${shown(line)}`);
  return true;
}

const shown = (line: string): string => line.replaceAll(/[\r\n]/g, " ");

/** There is no mail, whatever is asked for. */
function isGone(line: string, tag: string, say: (line: string) => void): boolean {
  const [, isSearch] = /^(?:UID )?(?:(SEARCH)|FETCH)\b/i.exec(line) ?? [];
  if (isSearch === undefined && !/^(?:UID )?FETCH\b/i.test(line)) return false;
  if (isSearch !== undefined) say("* SEARCH");
  say(`${tag} OK done`);
  return true;
}
