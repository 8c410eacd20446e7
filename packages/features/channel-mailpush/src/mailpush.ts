/** One mailbox: pushes say that there is mail, its history says which, answers are mails in the thread. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type Inbound,
  SvcError,
  trimEndOf,
} from "@svc/contract";
import {
  type AccessTokens,
  asCheckFailure,
  asFinal,
  createAccessTokens,
  isAllowed,
  pathPart,
  senderGate,
  toldOnce,
} from "@svc/kit";
import { type MailApi, createMailApi } from "./api.ts";
import { attachmentsOf, createMedia } from "./attachments.ts";
import type { Config } from "./config.ts";
import { type OwnAddress, ownAddress, readPlace, readProfile } from "./mailbox.ts";
import { type SigningKeys, createIngress, createSigningKeys, pushNoticeOf } from "./push.ts";
import { replyDataOf, sender } from "./reply.ts";
import { type Sync, createSync } from "./sync.ts";
import { type Watch, createLabels, createWatch } from "./watch.ts";
import * as v from "valibot";
import {
  addressOf,
  authenticityOf,
  automaticBy,
  isReply,
  mailboxOf,
  nameOf,
  readable,
  withoutQuote,
} from "@svc/kit/mail";
import { type Mail, bodyText } from "./mail.ts";

/** Mail has no length limit; no reader needs more than this. */
const MAX_TEXT_CHARS = 200_000;

export function create(context: FeatureContext<Config>): Contributions {
  const { config, state, clock } = context;
  const tokens = createAccessTokens({
    accessToken: config.oauth_token,
    refreshToken: config.refresh_token,
    clientId: config.client_id,
    clientSecret: config.client_secret,
    tokenUrl: config.token_url,
    withoutToken: "Set refresh_token, client_id and client_secret in [channels_config.mailpush], or oauth_token.",
    fetch: context.fetch,
    clock,
  });
  const api = createMailApi(context, tokens);
  const address = ownAddress(api);
  const labels = createLabels(api, config.label_filter);
  const watch = createWatch({ api, address, labels, topic: config.topic, state, clock });
  const historyNow = async (signal: AbortSignal): Promise<string> =>
    (await readProfile(api, signal))?.historyId ?? (await watch.renew(signal)).historyId;
  const sync = createSync({ api, labels, historyNow, context, inboundOf: inboundReader(context, address) });
  const keys = createSigningKeys(context);

  const check = async (signal: AbortSignal): Promise<string> => {
    const profile = await readProfile(api, signal).catch(asCheckFailure);
    const endsAtMs = await watch.endsAtMs();
    const until = endsAtMs === undefined ? "" : ` until ${new Date(endsAtMs).toISOString().slice(0, 16)}Z`;
    const who = profile?.address ?? "a mailbox";
    return `${who}, ${until === "" ? "not watched yet" : `watched${until}`}`;
  };

  const channel: Channel = {
    send: sender(api, address),
    text: { maxChars: MAX_TEXT_CHARS },
    readMarks: {
      async mark(_conversation, messageId, signal) {
        const path = `messages/${pathPart(messageId)}/modify`;
        await api.call({ path, json: { removeLabelIds: ["UNREAD"] } }, signal);
      },
    },
    media: createMedia(api, context),
    check,
    setup: ({ url }, signal) => setUp({ config, api, watch }, url, signal).catch(asCheckFailure),
    async onNotice(notice, signal) {
      const push = pushNoticeOf(notice);
      if (push === undefined) return;
      address.heard(push.emailAddress);
      // A push may be here before the loop has watched for the first time.
      if ((await readPlace(state)) === undefined) await watch.keep(signal);
      await sync.run(signal, push.historyId);
    },
  };

  return {
    channel,
    ingress: [createIngress(context, keys)],
    run: (signal) => runLoop({ context, tokens, check, watch, sync, keys }, signal),
  };
}

/** The channel's loop: the watch is renewed, the keys of pushes are fetched, and mail is looked for when no push comes. */
interface Loop {
  readonly context: Pick<FeatureContext, "clock" | "log">;
  readonly tokens: Pick<AccessTokens, "areThere">;
  readonly check: (signal: AbortSignal) => Promise<string>;
  readonly watch: Watch;
  readonly sync: Sync;
  readonly keys: SigningKeys;
}

/** The platform says that pushes may be late or missing, and to look now and then. */
const LOOK_MS = 1_800_000;

async function runLoop(loop: Loop, signal: AbortSignal): Promise<void> {
  const { check, watch, sync, keys, context } = loop;
  const { clock, log } = context;
  signal.throwIfAborted();
  try {
    // First of all, so that pushes can be told apart even when the mailbox is out of reach.
    await fetchKeys(loop, signal);
    let account: string | undefined;
    while (!signal.aborted) {
      const dueAtMs = await watch.keep(signal);
      await sync.run(signal);
      if (account === undefined)
        log.info("the platform knows this channel", { account: (account = await check(signal)) });
      await fetchKeys(loop, signal);
      const nextMs = Math.min(dueAtMs, keys.dueAtMs, clock.now() + LOOK_MS);
      await pause(loop, Math.max(1000, nextMs - clock.now()), signal);
      // Someone asked for keys: they are what a push waits for, and come before everything else.
      await fetchKeys(loop, signal);
    }
  } catch (error) {
    if (signal.aborted) return;
    throw loop.tokens.areThere ? asFinal(error) : error;
  }
}

/** Keys that can't be had are no reason to stop reading mail: the old ones stay. */
async function fetchKeys({ keys, context }: Loop, signal: AbortSignal): Promise<void> {
  if (context.clock.now() < keys.dueAtMs) return;
  await keys.fetch(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    const reason = error instanceof SvcError ? error.code : "unknown";
    context.log.warn("The keys with which pushes are signed can't be fetched; they are tried again.", { reason });
  });
}

/** Until the time is up, keys are asked for, or the channel stops. */
async function pause({ keys, context }: Loop, ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([context.clock.sleep(ms, either).catch(() => undefined), keys.asked(either)]);
  } finally {
    over.abort();
  }
}

/** `svc channels setup mailpush`: the push subscription, as far as the token may make one, and the watch. */
async function setUp(
  { config, api, watch }: { readonly config: Config; readonly api: MailApi; readonly watch: Watch },
  publicUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const url = config.webhook_url ?? publicUrl;
  if (!/^https:\/\//i.test(url)) {
    throw new SvcError("CHANNEL_CANNOT", "Pub/Sub pushes only to https URLs, and none is configured.", {
      hint: "Set gateway.public_url, or webhook_url in [channels_config.mailpush].",
    });
  }
  const subscription = subscriptionOf(config.topic);
  const made = await subscribe(config, api, subscription, url, signal);
  const { endsAtMs } = await watch.renew(signal);
  return [
    `${subscription} ${made} and pushes to ${url}.`,
    `The mailbox is watched until ${new Date(endsAtMs).toISOString().slice(0, 16)}Z; svc renews that by itself.`,
    ...(config.push_audience
      ? []
      : ["Pushes are not signed: set push_audience and push_service_account, and run this again."]),
  ].join(" ");
}

/** In the project of the topic, by its name. */
const subscriptionOf = (topic: string): string => `${topic.replace("/topics/", "/subscriptions/")}-svc`;

async function subscribe(
  config: Config,
  api: MailApi,
  subscription: string,
  url: string,
  signal: AbortSignal,
): Promise<"is made" | "is updated"> {
  const pushConfig = { pushEndpoint: url, ...oidcToken(config) };
  const path = `${trimEndOf(config.pubsub_url, "/")}/v1/${subscription}`;
  const wanted = { topic: config.topic, pushConfig, ...LASTING };
  const ask = (request: Parameters<MailApi["call"]>[0]) => api.call({ answers: [403, 404, 409], ...request }, signal);
  const made = await ask({ path, method: "PUT", json: wanted });
  if (made.status === 200) return "is made";
  if (made.status !== 409) throw byHand(config, subscription, url);
  const there = v.safeParse(v.object({ topic: v.string() }), (await ask({ path })).json);
  if (there.success && there.output.topic !== config.topic) {
    throw new SvcError("CHANNEL_CANNOT", `${subscription} is there already, for another topic.`, {
      hint: "Delete it in the cloud console, or use another topic.",
    });
  }
  const changed = await ask({ path: `${path}:modifyPushConfig`, method: "POST", json: { pushConfig } });
  if (changed.status === 200) return "is updated";
  throw byHand(config, subscription, url);
}

/** It never ends for lack of pushes; what is not taken is kept for a week, and tried less often with time. */
const LASTING = {
  ackDeadlineSeconds: 60,
  messageRetentionDuration: "604800s",
  expirationPolicy: {},
  retryPolicy: { minimumBackoff: "10s", maximumBackoff: "600s" },
};

const oidcToken = ({ push_service_account, push_audience }: Config) =>
  push_service_account && push_audience
    ? { oidcToken: { serviceAccountEmail: push_service_account, audience: push_audience } }
    : {};

function byHand(config: Config, subscription: string, url: string): SvcError {
  const [, project, , name] = subscription.split("/");
  const { push_service_account: account, push_audience: audience } = config;
  const signed =
    account && audience ? ` --push-auth-service-account=${account} --push-auth-token-audience=${audience}` : "";
  return new SvcError(
    "CHANNEL_CANNOT",
    "The token may not manage push subscriptions of this project, or there is no such topic.",
    {
      hint:
        "By hand: gcloud pubsub subscriptions create " +
        `${name} --project=${project} --topic=${config.topic} --push-endpoint=${url}${signed} --ack-deadline=60 --expiration-period=never`,
    },
  );
}

/** What of a mail goes to the agent: those of people who may write, in conversations of their own. */
const CHANNEL = "mailpush";
/** The platform's own check, told by its own name: other servers' words may be made up. */
const CHECKED_BY = "mx.google.com";

type InboundOf = (mail: Mail, labelIds: readonly string[], signal: AbortSignal) => Promise<Inbound | undefined>;

function inboundReader(
  { config, log }: Pick<FeatureContext<Config>, "config" | "log">,
  address: Pick<OwnAddress, "get">,
): InboundOf {
  const mayWrite = senderGate({ allowed: config.allowed_senders, mode: "email", log, channel: CHANNEL });
  const tellUnproven = toldOnce((sender) =>
    log.warn("A mail's sender is not proven by DMARC, DKIM or SPF of the domain; it is not answered.", { sender }),
  );
  // With `*` a forged sender gains nothing, since anyone may write. An approver's address still needs proof.
  const needsNoProof = (sender: string): boolean =>
    config.allowed_senders.includes("*") && !isAllowed(config.approvers, sender, "email");

  return async (mail, labelIds, signal) => {
    const from = mail.headers.get("from");
    const sender = mailboxOf(addressOf(from));
    const isOwn = mail.labelIds.some((label) => OWN.has(label));
    if (sender === undefined || isOwn || !isWanted(mail.labelIds, labelIds)) return undefined;
    if (sender === (await address.get(signal))?.toLowerCase()) return undefined;
    const automatic = automaticBy(mail.headers, sender);
    if (automatic !== undefined) {
      log.debug("An automatic mail is not answered.", { because: automatic });
      return undefined;
    }
    if (!mayWrite(sender)) return undefined;
    // Mail that never came from outside (within one mailbox, or put there by its owner) was not checked, and is taken.
    if (!needsNoProof(sender) && authenticityOf(mail.headers, sender, CHECKED_BY) === "unproven") {
      tellUnproven(sender);
      return undefined;
    }
    return messageOf(mail, sender, nameOf(from));
  };
}

const OWN = new Set(["SENT", "DRAFT", "CHAT"]);
const NEVER = new Set(["SPAM", "TRASH"]);

const isWanted = (has: readonly string[], wanted: readonly string[]): boolean =>
  wanted.length === 0 ? !has.some((label) => NEVER.has(label)) : wanted.some((label) => has.includes(label));

function messageOf(mail: Mail, sender: string, senderName: string | undefined): Inbound | undefined {
  const { media, placeholders } = attachmentsOf(mail);
  const text = [subjectOf(mail), textOf(mail), ...placeholders].filter((part) => part !== "").join("\n\n");
  if (text === "") return undefined;
  return {
    id: mail.id,
    // In a thread with several people each has a separate conversation: knowing a thread's id must not reveal the answers to
    // someone else.
    conversation: { channel: CHANNEL, id: sender, thread: mail.threadId },
    sender,
    ...(senderName !== undefined && { senderName }),
    text,
    ...(media.length > 0 && { media }),
    ...(mail.internalDateMs > 0 && { sentAtMs: mail.internalDateMs }),
    replyData: replyDataOf(mail),
  };
}

/** Blank for a reply, which repeats the conversation's first subject. */
function subjectOf(mail: Mail): string {
  const subject = readable(mail.headers.get("subject")).replaceAll(/\s+/g, " ").trim();
  return subject === "" || isReply(mail.headers)
    ? ""
    : `Subject: ${subject.slice(0, MAX_SUBJECT_CHARS).toWellFormed()}`;
}

const MAX_SUBJECT_CHARS = 998;

function textOf(mail: Mail): string {
  const text = bodyText(mail);
  return isReply(mail.headers) ? withoutQuote(text) : text;
}
