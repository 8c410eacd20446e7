/**
 * Mailpush's platform, as its documents say: a mailbox with its history, watches that tell a topic, tokens that end, files by
 * ids that change, sending into threads, push subscriptions, and the keys that pushes are signed with. All at one address.
 */
import type { Json } from "@svc/contract";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { createCredentials, type CredentialOptions } from "./credentials.ts";
import { notFound, ok, refused } from "./errors.ts";
import { createLabels } from "./labels.ts";
import { createLists } from "./lists.ts";
import type { ArrivingMail, StoredMail } from "./mail-resource.ts";
import { createMailRoutes, tagOf } from "./mail-routes.ts";
import { createMailbox } from "./mailbox.ts";
import { mailOf, postedOf, type SentMail } from "./outgoing.ts";
import { createPushSigner, type MailpushNotification, type PushSigner } from "./push.ts";
import { createSubscriptions, type Subscription } from "./subscriptions.ts";
import { writtenMail } from "./written.ts";

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
  const { address, topics, pageSize = 500, now } = options;
  const mailbox = createMailbox();
  const labels = createLabels(options.labels ?? {});
  const routes = createMailRoutes({ mailbox, labels, now });
  const credentials = createCredentials(options);
  const lists = createLists(mailbox, pageSize);
  const subscriptions = createSubscriptions(topics, options.mayManage ?? true);
  const signer = createPushSigner();
  const sent: SentMail[] = [];
  const watches: Json[] = [];
  function watch(json: Json | undefined): PlatformReply {
    const { topicName = "", labelIds = [] } = (json ?? {}) as { topicName?: string; labelIds?: string[] };
    if (!/^projects\/[^/]+\/topics\/[^/]+$/.test(topicName))
      return refused(400, "invalidArgument", "Invalid topicName");
    if (!topics.includes(topicName)) return refused(403, "forbidden", "User not authorized to perform this action.");
    const unknown = labels.unknown(labelIds);
    if (unknown !== undefined) return refused(400, "invalidArgument", `Invalid label: ${unknown}`);
    watches.push(json ?? null);
    return ok({ historyId: mailbox.historyId(), expiration: String(now() + WATCH_MS) });
  }

  async function send(request: PlatformRequest, isUpload: boolean): Promise<PlatformReply> {
    const posted = postedOf(request, isUpload);
    if (posted === undefined) return refused(400, "invalidArgument", "'raw' RFC822 payload message string required.");
    const thread = [...mailbox.mails.values()].filter(({ threadId }) => threadId === posted.threadId);
    if (posted.threadId !== undefined && thread.length === 0) return notFound();
    const mail = await mailOf(posted.raw).catch((error: unknown) => String(error));
    if (typeof mail === "string") return refused(400, "invalidArgument", mail);
    if (mail.from !== address || mail.to.length === 0)
      return refused(400, "invalidArgument", "Recipient address required");
    const belongs = thread.some(({ messageId, subject }) => {
      return [mail.inReplyTo, ...mail.references].includes(messageId) && baseOf(subject ?? "") === baseOf(mail.subject);
    });
    // What does not belong into the thread begins another one.
    const { dateMs: _, ...written } = await writtenMail(posted.raw);
    const stored = mailbox.add({
      ...written,
      labelIds: ["SENT"],
      atMs: now(),
      ...(belongs && { threadId: posted.threadId as string }),
    });
    sent.push({ ...mail, messageId: stored.id, threadId: stored.threadId });
    return ok(tagOf(stored));
  }

  async function ask(path: string, request: PlatformRequest, isUpload: boolean): Promise<PlatformReply> {
    const { method, query, json } = request;
    const route = `${method} ${path}`;
    if (route === "POST messages/send") return send(request, isUpload);
    if (route === "POST messages" || route === "POST messages/import") {
      return routes.put(request, path.endsWith("import"), isUpload);
    }
    if (isUpload) return notFound();
    if (route === "GET profile") {
      const { size: messagesTotal } = mailbox.mails;
      const threadsTotal = new Set([...mailbox.mails.values()].map(({ threadId }) => threadId)).size;
      return ok({ emailAddress: address, messagesTotal, threadsTotal, historyId: mailbox.historyId() });
    }
    if (route === "POST watch") return watch(json);
    if (route === "GET history") return lists.history(query);
    if (route === "GET messages") return lists.messages(query);
    return route === "GET labels" ? ok(labels.list()) : routes.one(path, request);
  }

  const base = await startPlatform((request) => {
    const { path } = request;
    if (path === "/token") return credentials.exchange(request);
    if (path === "/certs")
      return { headers: { "cache-control": "public, max-age=19800, must-revalidate" }, json: signer.keySet() };
    if (!credentials.mayAsk(request)) return refused(401, "authError", "Invalid Credentials");
    const [, upload, below] = /^\/(upload\/)?[a-z]+\/v1\/users\/me\/(.*)$/.exec(path) ?? [];
    if (below !== undefined) return ask(below, request, upload !== undefined);
    return path.startsWith("/v1/") ? subscriptions.answer(path.slice("/v1/".length), request) : notFound();
  });

  return Object.assign(base, {
    sent,
    subscriptions: subscriptions.all,
    watches,
    signer,
    arrive(mail: Omit<ArrivingMail, "atMs"> & { readonly atMs?: number }) {
      const stored = mailbox.add({ atMs: now(), ...mail });
      const notification = {
        id: `push of ${stored.id}`,
        emailAddress: address,
        historyId: stored.historyId,
        atMs: stored.atMs,
      };
      return { mail: stored, pushed: notification };
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
