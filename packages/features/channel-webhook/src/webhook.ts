/** The channel: it only sends. What comes in at `POST /webhook` is core's. */
import {
  type Channel,
  type Contributions,
  type FeatureContext,
  type Logger,
  type OutgoingMessage,
  SvcError,
} from "@svc/contract";
import type { Config } from "./index.ts";
import { platformCall, signWebhook, webhookKeyOf } from "@svc/kit";
import * as v from "valibot";

/** The scheme has no limit. A longer message would be no message, and still fits into the usual limits of a request. */
const MAX_CHARS = 65_536;

export function create(context: FeatureContext<Config>): Contributions {
  const { config, log } = context;
  const receiver = receiverOf(config);
  if (receiver === undefined) return { register: saying(log, UNUSED) };
  return {
    channel: {
      text: { maxChars: MAX_CHARS },
      send: poster(context, receiver),
      check: (signal) => checkReceiver(context, receiver, signal),
    },
    ...(receiver.key === undefined && { register: saying(log, UNSIGNED) }),
  };
}

const UNUSED =
  "[channels_config.webhook] has no url: no message is posted, and its other delivery settings have no effect";
const UNSIGNED =
  "NOT SIGNED: the receiver of outgoing webhooks can't verify their sender; set url_secret in [channels_config.webhook]";

const saying = (log: Logger, words: string) => async (signal: AbortSignal) => {
  signal.throwIfAborted();
  log.warn(words);
};

// Whether the receiver is there. Standard Webhooks has no question for that, and a message would be one.

/** Resolves with one line for a person. Throws CHANNEL_UNAUTHORIZED, REMOTE_*. */
async function checkReceiver(
  { fetch }: Pick<FeatureContext<Config>, "fetch">,
  { url, headers, key, timeoutMs }: Receiver,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const { status } = await fetch(url, { method: "HEAD", headers, redirects: "none", timeoutMs, signal });
  if (status >= 300 && status <= 399) {
    throw unreachable(
      `redirects (status ${status}), which is not followed`,
      "Set url to the address that it leads to.",
    );
  }
  if (status >= 500) throw unreachable(`answers with status ${status}`, "Look at the receiver, and try again.");
  if (status === 401) {
    throw new SvcError("CHANNEL_UNAUTHORIZED", "The receiver refuses the credentials.", {
      hint: "Set authorization in [channels_config.webhook] to the value that the receiver expects.",
    });
  }
  // A receiver that accepts only POST answers 404 or 405, or 403 behind some front ends.
  const { host } = new URL(url);
  const how = key === undefined ? "NOT SIGNED" : "signed";
  return `${host} answers (status ${status} to HEAD); messages go there ${how}, and the first one proves that it takes them`;
}

const unreachable = (what: string, hint: string): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", `The receiver ${what}.`, { hint });

// One message to the receiver, by Standard Webhooks
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). When to try again is the delivery's
// business, and in the error's code.

/** Of the answer only the status counts. */
const MAX_ANSWER_BYTES = 1024;

function poster({ clock, fetch }: FeatureContext<Config>, receiver: Receiver): Channel["send"] {
  const { url, method, headers, timeoutMs } = receiver;
  return async (message, signal) => {
    const body = bodyOf(message);
    const nowMs = clock.now();
    const own = { "content-type": "application/json", ...webhookHeaders(receiver, message.deliveryId, body, nowMs) };
    const request = { url, method, headers: { ...headers, ...own }, body, timeoutMs, signal, nowMs };
    // No redirects: only the config may change the receiver, because the message is meant for it alone.
    await platformCall(fetch, { ...request, maxBytes: MAX_ANSWER_BYTES, redirects: "none" });
    // The scheme has no id but ours.
    return {};
  };
}

/** No lone surrogate: a receiver's JSON may refuse one, and its text have another signature. */
function bodyOf({ conversation: { id, thread }, text, replyData }: OutgoingMessage): string {
  const conversation = v.is(OF_SESSION, replyData) ? replyData.session : id;
  return JSON.stringify({ content: text.toWellFormed(), conversation, thread_id: thread ?? null });
}

/** What answers a request to `POST /webhook` whose caller did not wait: the name that he knows the conversation by. */
const OF_SESSION = v.object({ session: v.string() });

/** The id is the same at each try, by which the receiver tells repetitions; the time is that of the try, which it may demand to be fresh. */
function webhookHeaders({ key }: Receiver, id: string, body: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    ...(key && { "webhook-signature": signWebhook(key, { id, timestamp, body }) }),
  };
}

/** Who is posted to, as the section says. */
interface Receiver {
  readonly url: string;
  readonly method: "POST" | "PUT";
  /** Of the request, beside those of each message. */
  readonly headers: Readonly<Record<string, string>>;
  /** What messages are signed with; undefined: they are not. */
  readonly key: Buffer | undefined;
  readonly timeoutMs: number;
}

/** Undefined: no receiver. A blank secret counts as unset. */
function receiverOf(config: Config): Receiver | undefined {
  const { url = "", method, authorization = "", url_secret: secret = "", timeout_secs: timeoutSecs } = config;
  if (url === "") return undefined;
  return {
    // A fragment is never sent, and an answer that comes without it is no redirect.
    url: url.split("#", 1)[0]!,
    method,
    headers: authorization.trim() === "" ? {} : { authorization: authorization.trim() },
    key: secret.trim() === "" ? undefined : webhookKeyOf(secret),
    timeoutMs: timeoutSecs * 1000,
  };
}
