/**
 * Mailpush's platform, as its documents say: a mailbox with its history, watches that tell a topic, tokens that end, files by
 * ids that change, sending into threads, push subscriptions, and the keys that pushes are signed with. All at one address.
 */
import type { Json } from "@svc/contract";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { createCredentials, type CredentialOptions } from "./credentials.ts";
import { ok, refused } from "./errors.ts";
import { createLists } from "./lists.ts";
import { type ArrivingMail, resourceOf, type StoredMail } from "./mail-resource.ts";
import { createMailbox } from "./mailbox.ts";
import { mailOf, postedOf, type SentMail } from "./outgoing.ts";
import { createPushSigner, type MailpushNotification, type PushSigner } from "./push.ts";
import { createSubscriptions, type Subscription } from "./subscriptions.ts";

export interface MailpushOptions extends CredentialOptions {
  readonly address: string;
  /** Topics that the mailbox may tell. */
  readonly topics: readonly string[];
  /** Labels that people made, by id. */
  readonly labels?: Readonly<Record<string, string>>;
  /** At most so many at once. Default: as many as are asked for. */
  readonly pageSize?: number;
  /** The token may manage push subscriptions. Default: yes. */
  readonly mayManage?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Mailpush extends FakePlatform {
  readonly sent: readonly SentMail[];
  readonly subscriptions: ReadonlyMap<string, Subscription>;
  /** What was asked of it with each watch, in order. */
  readonly watches: readonly Json[];
  readonly signer: PushSigner;
  /** Puts a mail into the mailbox, and says what is pushed of it. */
  arrive(mail: Omit<ArrivingMail, "atMs"> & { readonly atMs?: number }): {
    mail: StoredMail;
    pushed: MailpushNotification;
  };
  mail(id: string): StoredMail | undefined;
  remove(id: string): void;
  /** History ids from before now are not found any more. */
  forgetHistory(): void;
  expireTokens(): void;
  revoke(): void;
  readonly historyId: () => string;
}

const WATCH_MS = 604_800_000;

export async function startMailpush(options: MailpushOptions): Promise<Mailpush> {
  const { address, topics, labels = {}, pageSize = 500, now } = options;
  const mailbox = createMailbox();
  const credentials = createCredentials(options);
  const lists = createLists(mailbox, pageSize);
  const subscriptions = createSubscriptions(topics, options.mayManage ?? true);
  const signer = createPushSigner();
  const sent: SentMail[] = [];
  const watches: Json[] = [];
  const attachments = new Map<string, Uint8Array>();
  const attach = (bytes: Uint8Array): string => {
    const id = `ANGjdJ${attachments.size}-${Buffer.from(String(bytes.length)).toString("base64url")}`;
    attachments.set(id, bytes);
    return id;
  };

  function watch(json: Json | undefined): PlatformReply {
    const { topicName = "", labelIds = [] } = (json ?? {}) as { topicName?: string; labelIds?: string[] };
    if (!topics.includes(topicName)) return refused(403, "forbidden", "User not authorized to perform this action.");
    if (labelIds.some((id) => !/^[A-Z_]+$/.test(id) && labels[id] === undefined))
      return refused(400, "invalidArgument");
    watches.push(json ?? null);
    return ok({ historyId: mailbox.historyId(), expiration: String(now() + WATCH_MS) });
  }

  async function send(request: PlatformRequest, isUpload: boolean): Promise<PlatformReply> {
    const posted = postedOf(request, isUpload);
    if (posted === undefined) return refused(400, "invalidArgument", "'raw' RFC822 payload message string required.");
    const thread = [...mailbox.mails.values()].filter(({ threadId }) => threadId === posted.threadId);
    if (posted.threadId !== undefined && thread.length === 0) return refused(404, "notFound");
    const mail = await mailOf(posted.raw).catch((error: unknown) => String(error));
    if (typeof mail === "string") return refused(400, "invalidArgument", mail);
    if (mail.from !== address || mail.to.length === 0)
      return refused(400, "invalidArgument", "Recipient address required");
    const belongs = thread.some(({ messageId, subject }) => {
      return [mail.inReplyTo, ...mail.references].includes(messageId) && baseOf(subject ?? "") === baseOf(mail.subject);
    });
    // What does not belong into the thread begins another one.
    const headers = Object.fromEntries([...mail.headers].map(([name, value]) => [name, value] as const));
    const stored = mailbox.add({
      from: mail.from,
      subject: mail.subject,
      text: mail.text,
      headers: { ...headers, "Message-ID": mail.headers.get("message-id") ?? "" },
      labelIds: ["SENT"],
      atMs: now(),
      ...(belongs && { threadId: posted.threadId as string }),
    });
    sent.push({ ...mail, messageId: stored.id, threadId: stored.threadId });
    return ok({ id: stored.id, threadId: stored.threadId, labelIds: ["SENT"] });
  }

  function shown(id: string, query: URLSearchParams): Json | undefined {
    const mail = mailbox.mails.get(id);
    const headers = query.getAll("metadataHeaders");
    return mail && resourceOf(mail, { format: query.get("format") ?? "full", headers, attach });
  }

  function thread(id: string, query: URLSearchParams): PlatformReply {
    const mails = [...mailbox.mails.values()].filter(({ threadId }) => threadId === id);
    if (mails.length === 0) return refused(404, "notFound");
    return ok({ id, historyId: mailbox.historyId(), messages: mails.map((mail) => shown(mail.id, query) as Json) });
  }

  async function ask(path: string, request: PlatformRequest, isUpload: boolean): Promise<PlatformReply> {
    const { method, query, json } = request;
    const route = `${method} ${path}`;
    if (route === "POST messages/send") return send(request, isUpload);
    if (isUpload) return refused(404, "notFound");
    if (route === "GET profile") {
      return ok({
        emailAddress: address,
        messagesTotal: mailbox.mails.size,
        threadsTotal: 1,
        historyId: mailbox.historyId(),
      });
    }
    if (route === "POST watch") return watch(json);
    if (route === "GET history") return lists.history(query);
    if (route === "GET messages") return lists.messages(query);
    if (route === "GET labels") {
      return ok({
        labels: [
          { id: "INBOX", name: "INBOX", type: "system" },
          ...Object.entries(labels).map(([id, name]) => ({ id, name, type: "user" })),
        ],
      });
    }
    const [, kind, id = "", rest = ""] = /^(messages|threads)\/([\w-]+)(?:\/(.+))?$/.exec(path) ?? [];
    if (kind === "threads" && method === "GET") return thread(id, query);
    if (kind !== "messages" || !mailbox.mails.has(id)) return refused(404, "notFound");
    if (route.endsWith("/modify") && method === "POST") {
      mailbox.unlabel(id, (json as { removeLabelIds?: string[] }).removeLabelIds ?? []);
      return ok({ id });
    }
    const bytes = rest.startsWith("attachments/") ? attachments.get(rest.slice("attachments/".length)) : undefined;
    if (bytes !== undefined) return ok({ size: bytes.length, data: Buffer.from(bytes).toString("base64url") });
    return rest === "" && method === "GET" ? ok(shown(id, query) as Json) : refused(404, "notFound");
  }

  const base = await startPlatform((request) => {
    const { path } = request;
    if (path === "/token") return credentials.exchange(request);
    if (path === "/certs")
      return { headers: { "cache-control": "public, max-age=19800, must-revalidate" }, json: signer.keySet() };
    if (!credentials.mayAsk(request)) return refused(401, "authError", "Invalid Credentials");
    const [, upload, below] = /^\/(upload\/)?[a-z]+\/v1\/users\/me\/(.*)$/.exec(path) ?? [];
    if (below !== undefined) return ask(below, request, upload !== undefined);
    return path.startsWith("/v1/")
      ? subscriptions.answer(path.slice("/v1/".length), request)
      : refused(404, "notFound");
  });

  return Object.assign(base, {
    sent,
    subscriptions: subscriptions.all,
    watches,
    signer,
    arrive(mail: Omit<ArrivingMail, "atMs"> & { readonly atMs?: number }) {
      const stored = mailbox.add({ atMs: now(), ...mail });
      const told = {
        id: `push of ${stored.id}`,
        emailAddress: address,
        historyId: stored.historyId,
        atMs: stored.atMs,
      };
      return { mail: stored, pushed: told };
    },
    mail: (id: string) => mailbox.mails.get(id),
    remove: mailbox.remove,
    forgetHistory: mailbox.forget,
    expireTokens: credentials.expire,
    revoke: credentials.revoke,
    historyId: mailbox.historyId,
  });
}

const baseOf = (subject: string): string => subject.replace(/^(?:\s*re\s*:)+/i, "").trim();
