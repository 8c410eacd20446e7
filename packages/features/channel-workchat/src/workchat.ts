/** The channel of one section: what goes out by the platform's API, and what comes in by long connection or callback. */
import type { Channel, Contributions, FeatureContext } from "@svc/contract";
import { MEDIA_KINDS, runChannel, senderGate, sentPartsIn } from "@svc/kit";
import { accountOf, mediaFetcher, setupOf } from "./account.ts";
import { apiOf } from "./api.ts";
import { TEXT_CHARS } from "./cards.ts";
import type { Config } from "./config.ts";
import type { Reader } from "./events.ts";
import { languages as languagesOf } from "./language.ts";
import { questionsIn } from "./questions.ts";
import { acknowledging, draftsOf, MAX_MEDIA_BYTES, outboxOf } from "./send.ts";
import { ingressOf } from "./webhook.ts";

const PATHS = { workchat: "/workchat", workchat_cn: "/workchat-cn" } as const;

export const create =
  (channel: keyof typeof PATHS) =>
  (context: FeatureContext<Config>): Contributions => {
    const { config, log, siblings, state } = context;
    if (isTakenOver(config, siblings)) {
      log.warn("channels_config.workchat is not used: channels_config.workchat_cn has the same app");
      return {};
    }
    const api = apiOf(config, context);
    const account = accountOf(api, context);
    const questions = questionsIn(state);
    const languages = languagesOf(config.isFeishu ? "zh-CN" : "en");
    const { send, prompts } = outboxOf({ api, channel, questions, sentParts: sentPartsIn(context) });
    const drafts = draftsOf(api, config);
    const readMarks = acknowledging(api, languages, config.ack_reaction);
    const reader: Reader = {
      channel,
      appId: config.app_id,
      mentionOnly: config.mention_only,
      bot: account.bot,
      questions,
      languages,
      isAllowed: senderGate({ allowed: config.allowed_users, mode: "exact", log, channel }),
    };
    const contributed: Channel = {
      text: { maxChars: TEXT_CHARS },
      send,
      ...(readMarks && { readMarks }),
      ...(drafts && { drafts }),
      media: {
        maxBytes: MAX_MEDIA_BYTES,
        sends: MEDIA_KINDS,
        voiceNotes: true,
        fetch: mediaFetcher(api, config, context),
      },
      prompts,
      check: account.check,
      setup: setupOf(config, account),
    };
    return {
      channel: contributed,
      ...(config.receive_mode === "webhook" && { ingress: [ingressOf(PATHS[channel], config, reader)] }),
      async register(signal) {
        signal.throwIfAborted();
        await Promise.all([questions.load(), account.load()]);
      },
      async run(signal) {
        if (config.receive_mode === "webhook") return runChannel(account.check, log, signal);
        // The library is evaluated with the first connection.
        const { runConnected } = await import("./run.ts");
        return runConnected({ context, reader, signIn: account.check }, signal);
      },
    };
  };

/** Two connections of one app would each get a part of its messages: of the two sections, the dedicated one counts. */
function isTakenOver({ app_id: appId, isFeishu }: Config, siblings: FeatureContext["siblings"]): boolean {
  const china = siblings["channels_config.workchat_cn"] as Pick<Config, "app_id"> | undefined;
  return isFeishu && china !== undefined && china.app_id === appId;
}
