/** The channel: it only sends. What comes in at `POST /webhook` is core's. */
import type { Contributions, FeatureContext, Logger } from "@svc/contract";
import { checkReceiver } from "./check.ts";
import type { Config } from "./index.ts";
import { poster } from "./post.ts";
import { receiverOf } from "./receiver.ts";

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
