/** One bot: messages come in by polling or a webhook, answers go out through the Bot API. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import { MEDIA_KINDS, sentPartsIn } from "@svc/kit";
import { accountLine } from "./account.ts";
import { createBotApi } from "./api/bot-api.ts";
import { createIdentity } from "./api/identity.ts";
import type { Config } from "./config.ts";
import { mediaFetch } from "./incoming/fetch-media.ts";
import { ingressOf } from "./incoming/ingress.ts";
import type { MessageReading } from "./incoming/message.ts";
import { createPolling } from "./incoming/polling.ts";
import { senderReader } from "./incoming/senders.ts";
import { updateReader } from "./incoming/update.ts";
import { draftsOf } from "./outgoing/drafts.ts";
import { MAX_FILE_BYTES } from "./outgoing/files.ts";
import { TEXT_CHARS } from "./outgoing/formatted.ts";
import { migrationsIn } from "./outgoing/migrations.ts";
import { createPacing } from "./outgoing/pacing.ts";
import { createPost } from "./outgoing/post.ts";
import { presenceOf } from "./outgoing/presence.ts";
import { promptPoster } from "./outgoing/prompts.ts";
import { messageSender } from "./outgoing/send.ts";
import { runOf } from "./run.ts";
import { setupOf } from "./setup.ts";

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
