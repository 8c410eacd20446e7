import type { PlatformRequest } from "@svc/testkit/platforms/base";
import { mailpushDelivery, type MailpushNotification } from "@svc/testkit/platforms/mailpush/push";
import { startMailpush } from "@svc/testkit/platforms/mailpush/server";
import { type Message, textOf } from "../plan/messages.ts";
import { fieldsOf, numberOf, type Provider, type Sending } from "./provider.ts";

const ADDRESS = "agent@example.com";
const TOPIC = "projects/harness/topics/mail";
const TOKEN = "access-token-of-the-mailbox";
const SECRET = "webhook-secret-of-the-harness";

export async function openMailpush(): Promise<Provider> {
  const platform = await startMailpush({ address: ADDRESS, topics: [TOPIC], token: TOKEN, now: Date.now });
  const addressOf = (conversation: string): string => `person${numberOf(conversation)}@example.org`;
  /** By conversation: the thread that its first mail began. */
  const threads = new Map<string, string>();
  /** By label. A mail arrives once, however often it is announced. */
  const pushes = new Map<string, MailpushNotification>();
  const pushOf = (message: Message): MailpushNotification => {
    const { label, conversation } = message;
    const known = pushes.get(label);
    if (known) return known;
    const threadId = threads.get(conversation);
    const letter = { from: addressOf(conversation), subject: "Work", text: textOf(message) };
    const { mail, pushed } = platform.arrive({ ...letter, ...(threadId !== undefined && { threadId }) });
    threads.set(conversation, mail.threadId);
    pushes.set(label, pushed);
    return pushed;
  };
  return {
    channel: "mailpush",
    letter: "m",
    batch: 1,
    path: "/webhook/mailpush",
    platform,
    // For as long as the subscription keeps it: days.
    attempts: Infinity,
    patienceMs: 10_000,
    // It looks into the thread for what it may have sent before.
    arrivesOnce: true,
    section: (origin) => `
[channels_config.mailpush]
enabled = true
topic = "${TOPIC}"
oauth_token = "${TOKEN}"
webhook_secret = "${SECRET}"
allowed_senders = ["@example.org"]
api_url = "${origin}"
`,
    // What came before the first watch is nobody's business; the history is asked for when the watch is kept.
    isReady: () => platform.requests.some(({ path }) => path.endsWith("/history")),
    delivery: ([message]) => mailpushDelivery(pushOf(message!), SECRET),
    sendingOf({ method, path, json }: PlatformRequest) {
      const { raw } = fieldsOf(json);
      if (method !== "POST" || !path.endsWith("/messages/send") || typeof raw !== "string") return undefined;
      return letterOf(Buffer.from(raw, "base64url").toString("latin1"));
    },
    received: () => platform.sent.map(({ to, text }) => ({ to: to[0] ?? "", text })),
    addressOf,
    [Symbol.asyncDispose]: () => platform.close(),
  };
}

/** A mail of one part in plain letters, which is all that is answered here. */
function letterOf(mail: string): Sending {
  const end = mail.indexOf("\r\n\r\n");
  const head = mail.slice(0, end);
  const body = mail.slice(end + 4);
  const to = /^To: (.*)$/im.exec(head)?.[1]?.trim() ?? "";
  const isQuoted = /^Content-Transfer-Encoding: quoted-printable$/im.test(head);
  const text = isQuoted ? unquoted(body) : body;
  return { to, text: text.replaceAll("\r\n", "\n").replace(/\n$/, "") };
}

const unquoted = (text: string): string =>
  text
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
