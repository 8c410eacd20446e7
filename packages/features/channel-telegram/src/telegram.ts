/** One bot: messages come in by polling or a webhook, answers go out through the Bot API. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import { asFinal, checkFailureOf, MEDIA_KINDS, runChannel, sentPartsIn } from "@svc/kit";
import { accountLine, createIdentity, setupOf } from "./account.ts";
import { createPolling, ingressOf, type Polling } from "./arrivals.ts";
import { createBotApi } from "./bot-api.ts";
import type { Config } from "./config.ts";
import { MAX_FILE_BYTES, mediaFetch } from "./files.ts";
import { type MessageReading, senderReader } from "./message.ts";
import { createPacing, createPost, migrationsIn } from "./post.ts";
import { draftsOf, presenceOf } from "./progress.ts";
import { promptPoster } from "./prompts.ts";
import { messageSender, TEXT_CHARS } from "./send.ts";
import { updateReader } from "./updates.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, log } = context;
  const api = createBotApi(context);
  const identity = createIdentity(api, context);
  const post = createPost({ api, migrations: migrationsIn(context), pacing: createPacing(context.clock) });
  const send = messageSender({ api, post, sentParts: sentPartsIn(context) });
  const check = (signal: AbortSignal): Promise<string> => accountLine({ api, identity, config }, signal);
  const drafts = draftsOf(config, post);

  const senderOf = senderReader({ allowed: config.allowed_users, approvers: config.approvers, log });
  const read = updateReader((): MessageReading | undefined => {
    const { id, username } = identity;
    return id === undefined ? undefined : { me: { id, username }, mentionOnly: config.mention_only, senderOf };
  });

  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send,
    ...presenceOf(config, post),
    ...(drafts && { drafts }),
    prompts: promptPoster(post, send),
    media: { maxBytes: MAX_FILE_BYTES, sends: MEDIA_KINDS, voiceNotes: true, fetch: mediaFetch(api, context) },
    check,
    setup: setupOf(api, config),
  };
  const isPolling = config.mode === "polling";
  return {
    channel,
    ingress: isPolling ? [] : [ingressOf(config, read)],
    async register(signal) {
      signal.throwIfAborted();
      await identity.recall();
    },
    run: runOf({ check, polling: isPolling ? createPolling({ api, read, context }) : undefined, context }),
  };
}

export interface RunDeps {
  readonly check: (signal: AbortSignal) => Promise<string>;
  /** Undefined in webhook mode. */
  readonly polling: Polling | undefined;
  readonly context: Pick<FeatureContext, "log">;
}

function runOf({ check, polling, context }: RunDeps): NonNullable<Contributions["run"]> {
  if (polling === undefined) return (signal) => runChannel(check, context.log, signal);
  return async (signal) => {
    try {
      signal.throwIfAborted();
      context.log.info("the platform knows this channel", { account: await check(signal) });
      await polling(signal);
    } catch (error) {
      if (!signal.aborted) throw asFinal(checkFailureOf(error));
    }
  };
}
