/** The channel of one section: what goes out by the platform's API, and what comes in by long connection or callback. */
import { type Channel, type Contributions, type FeatureContext, type Media, SvcError } from "@svc/contract";
import {
  MEDIA_KINDS,
  asCheckFailure,
  downloadMedia,
  fieldsOf,
  runChannel,
  senderGate,
  sentPartsIn,
  textOf,
} from "@svc/kit";
import { type Api, apiOf } from "./api.ts";
import { TEXT_CHARS } from "./cards.ts";
import { type Config, setSecret } from "./config.ts";
import { type Reader, questionsIn } from "./events.ts";
import { languages as languagesOf } from "./language.ts";
import { MAX_MEDIA_BYTES, acknowledging, draftsOf, outboxOf } from "./send.ts";
import { ingressOf } from "./webhook.ts";
import { personId } from "./ids.ts";

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
        const { runConnected } = await import("./websocket.ts");
        return runConnected({ context, reader, signIn: account.check }, signal);
      },
    };
  };

/** Two connections of one app would each get a part of its messages: of the two sections, the dedicated one counts. */
function isTakenOver({ app_id: appId, isFeishu }: Config, siblings: FeatureContext["siblings"]): boolean {
  const china = siblings["channels_config.workchat_cn"] as Pick<Config, "app_id"> | undefined;
  return isFeishu && china !== undefined && china.app_id === appId;
}

/** The app's bot, the remaining steps in the developer console, and received files. */
interface Account {
  /** Open ID of the bot; undefined until the platform has told it. */
  readonly bot: () => string | undefined;
  /** What an earlier process was told. */
  load(): Promise<void>;
  /** One line for a person. Throws CHANNEL_UNAUTHORIZED, REMOTE_*. */
  check(signal: AbortSignal): Promise<string>;
}

const NAME = "bot";

function accountOf(api: Api, { state }: Pick<FeatureContext, "state">): Account {
  let bot: string | undefined;
  return {
    bot: () => bot,
    async load() {
      bot ??= personId(await state.get(NAME).catch(() => undefined));
    },
    /** https://open.larksuite.com/document/client-docs/bot-v3/obtain-bot-info */
    async check(signal) {
      const answer = await api.whole({ path: "bot/v3/info" }, signal).catch(asCheckFailure);
      const { open_id: id, app_name: name, activate_status: status } = fieldsOf(answer["bot"]);
      const known = personId(id);
      if (known === undefined) {
        throw new SvcError("REMOTE_UNREACHABLE", "The platform does not tell who the bot is.", {
          hint: "Check the channel's api_url.",
        });
      }
      if (known !== bot) {
        bot = known;
        await state.set(NAME, known).catch(() => undefined);
      }
      const words = (textOf(name) ?? "a bot without a name").replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").slice(0, 200);
      return status === undefined || status === 2
        ? words
        : `${words}; it is not enabled in the tenant: publish a version of the app`;
    },
  };
}

const EVENT = "im.message.receive_v1";
const CALLBACK = "card.action.trigger";

/** Steps in the console, for which there is no API. */
function setupOf(
  config: Pick<Config, "api_url" | "app_id" | "receive_mode" | "encrypt_key">,
  account: Account,
): NonNullable<Channel["setup"]> {
  return async ({ url }, signal) => {
    const name = await account.check(signal);
    const isPosted = config.receive_mode === "webhook";
    if (isPosted && !url.startsWith("https:") && !/^http:\/\/(?:localhost|127\.)/.test(url)) {
      throw new SvcError("CHANNEL_CANNOT", "The platform posts to public https addresses only.", {
        hint: "Set gateway.public_url to the https:// address of this service.",
      });
    }
    const mode = isPosted
      ? `Send callbacks to developer's server, with the URL ${url}`
      : "Receive through persistent connection";
    return [
      `The platform knows the app: ${name}. It has no API for the rest; do it by hand:`,
      `1. Open ${config.api_url}/app/${config.app_id}/event`,
      `2. Under Event configuration choose: ${mode}. Add the event ${EVENT}.`,
      `3. Under Callback configuration choose the same. Add the callback ${CALLBACK}.`,
      ...(isPosted && setSecret(config.encrypt_key) === undefined
        ? [
            "4. Under Encryption strategy make an Encrypt Key, and set encrypt_key: callbacks are not signed without one.",
          ]
        : []),
      "Then publish a version of the app.",
    ].join("\n");
  };
}

/** https://open.larksuite.com/document/server-docs/im-v1/message/get-2 */
function mediaFetcher(
  api: Api,
  { api_url: base }: Pick<Config, "api_url">,
  { clock, fetch }: Pick<FeatureContext, "clock" | "fetch">,
): Media["fetch"] {
  return async ({ ref }, write, signal) => {
    const [, message, type, key] = REF.exec(ref) ?? [];
    if (message === undefined) throw new SvcError("MEDIA_REFUSED", "This is no file of the platform.");
    const url = `${base}/open-apis/im/v1/messages/${message}/resources/${key}?type=${type}`;
    const token = await api.token(signal).catch(asMediaFailure);
    try {
      return await downloadMedia(fetch, {
        url,
        headers: { authorization: `Bearer ${token}` },
        maxBytes: MAX_MEDIA_BYTES,
        redirects: "same-host",
        write,
        signal,
        nowMs: clock.now(),
      });
    } catch (error) {
      // The platform says the same of a token that it does not take any more: this request replaces one.
      if (!(error instanceof SvcError) || !/\b40[01]\b/.test(error.message)) throw error;
      await api.whole({ path: "bot/v3/info" }, signal).catch(asMediaFailure);
      if ((await api.token(signal).catch(asMediaFailure)) === token) throw error;
      throw new SvcError("REMOTE_UNREACHABLE", "The platform did not take the access token any more.", {
        cause: error,
      });
    }
  };
}

const REF = /^(om_[A-Za-z0-9_=-]{1,128})\/(image|file)\/([A-Za-z0-9_-]{1,256})$/;

/** Errors of sending, as those of fetching a file. */
function asMediaFailure(error: unknown): never {
  if (!(error instanceof SvcError) || !error.code.startsWith("DELIVERY_")) throw error;
  if (error.code === "DELIVERY_REFUSED") throw new SvcError("MEDIA_REFUSED", error.message, { cause: error });
  throw new SvcError("REMOTE_UNREACHABLE", error.message, {
    cause: error,
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  });
}
