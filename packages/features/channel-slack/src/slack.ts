/** The channel: what goes out by the Web API, and what comes in by Socket Mode or the Events API. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import { MEDIA_KINDS, senderGate, sentPartsIn } from "@svc/kit";
import { type AccountDeps, accountLine, setupOf, unknownSelf } from "./account.ts";
import type { Config } from "./config.ts";
import { threadsIn, type Told } from "./events.ts";
import { MAX_MEDIA_BYTES, mediaFetcher, uploadsOf } from "./files.ts";
import { ingressesOf } from "./ingress.ts";
import { peopleOf } from "./people.ts";
import { draftsOf, readMarksOf, typingOf } from "./progress.ts";
import { promptsOf } from "./prompts.ts";
import { CHANNEL } from "./protocol.ts";
import { runChannel } from "./run.ts";
import { messageSender, placesOf, TEXT_CHARS } from "./send.ts";
import { webApi } from "./web-api.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, log } = context;
  const { api_url: apiUrl, app_token: appToken, signing_secret: signingSecret } = config;
  const api = webApi({ apiUrl, token: config.bot_token }, context);
  const app =
    config.mode === "socket" && appToken !== undefined ? webApi({ apiUrl, token: appToken }, context) : undefined;
  const self = unknownSelf();
  const account: AccountDeps = { bot: api, app, self };
  const threads = threadsIn(context);
  const people = peopleOf(api, context);
  const mayWrite = senderGate({ allowed: config.allowed_users, mode: "exact", log, channel: CHANNEL });
  const told: Told = { config, self, people, threads, mayWrite };

  const outbox = { api, places: placesOf(api), threads, config };
  const send = messageSender(outbox, uploadsOf(api, apiUrl, context), sentPartsIn(context));
  const drafts = draftsOf(config, api, context);
  const readMarks = readMarksOf(api, config.ack_reaction);
  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send,
    typing: typingOf(api),
    ...(readMarks && { readMarks }),
    ...(drafts && { drafts }),
    media: { maxBytes: MAX_MEDIA_BYTES, sends: MEDIA_KINDS, fetch: mediaFetcher(api, config, context) },
    prompts: promptsOf(outbox, send),
    check: (signal) => accountLine(account, signal),
    setup: setupOf(config),
  };
  const isPostedTo = config.mode === "events" && signingSecret !== undefined;
  return {
    channel,
    ...(isPostedTo && { ingress: ingressesOf(signingSecret, config.allowed_users, told) }),
    register: async (signal) => {
      signal.throwIfAborted();
      await threads.load();
    },
    run: (signal) => runChannel({ context, api, account, told, threads, people }, signal),
  };
}
