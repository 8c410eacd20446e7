/** One bot: messages come in by polling or a webhook, answers go out through the Bot API. */
import {
  type Channel,
  type Contributions,
  type Conversation,
  type Drafts,
  type FeatureContext,
  type Json,
  type Media,
  SvcError,
} from "@svc/contract";
import {
  MEDIA_KINDS,
  asCheckFailure,
  asFinal,
  checkFailureOf,
  parseJson,
  runChannel,
  downloadMedia,
  pathPart,
  sentPartsIn,
  type Fields,
  fieldsOf,
  textOf,
  wordOf,
} from "@svc/kit";
import { type Polling, createPolling, ingressOf, updateReader } from "./updates.ts";
import {
  type BotApi,
  GROUP_DRAFT_MS,
  NotModified,
  type Post,
  createBotApi,
  createPacing,
  createPost,
  isGroup,
  messageNumber,
  migrationsIn,
  targetOf,
  COMMANDS,
  UPDATE_KINDS,
  numberOf,
} from "./bot-api.ts";
import { type Config, type ReactionEmoji, reactionEmoji } from "./config.ts";
import { type MessageReading, messageRefOf, senderReader } from "./message.ts";
import { MAX_FILE_BYTES, NO_PREVIEW, TEXT_CHARS, formatted, messageSender, promptPoster } from "./send.ts";

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

// While an answer is being made, people see a draft that grows, "typing" and a reaction.

/** Undefined when drafts are off. https://core.telegram.org/bots/api#editmessagetext */
function draftsOf(
  { stream_mode: mode, draft_update_interval_ms: ownMs }: Pick<Config, "stream_mode" | "draft_update_interval_ms">,
  post: Post,
): Drafts | undefined {
  if (mode === "off") return undefined;
  return {
    mode,
    intervalMs(conversation) {
      const { chatId } = targetOf(conversation);
      return isGroup(chatId) ? Math.max(ownMs, GROUP_DRAFT_MS) : ownMs;
    },
    async edit({ conversation, platformId }, text, signal) {
      signal.throwIfAborted();
      const { chatId } = targetOf(conversation);
      const message_id = messageNumber(platformId);
      try {
        await formatted(text, TEXT_CHARS, (words) =>
          post(
            chatId,
            (raw, chat_id, s) => raw.editMessageText({ chat_id, message_id, ...words, ...NO_PREVIEW }, s),
            signal,
            "edit",
          ),
        );
      } catch (error) {
        if (!(error instanceof NotModified)) throw error;
      }
    },
  };
}

/** https://core.telegram.org/bots/api#sendchataction */
const TYPING_LASTS_MS = 5_000;

function presenceOf(
  { ack_reaction: ack }: Pick<Config, "ack_reaction">,
  post: Post,
): Pick<Channel, "typing" | "readMarks"> {
  const emoji = reactionEmoji(ack);
  return {
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start(conversation, _messageId, signal) {
        signal.throwIfAborted();
        const { chatId, threadId } = targetOf(conversation);
        const thread = threadId === undefined ? {} : { message_thread_id: threadId };
        await post(
          chatId,
          (raw, chat_id, s) => raw.sendChatAction({ chat_id, ...thread, action: "typing" }, s),
          signal,
          "sign",
        );
      },
    },
    ...(emoji && {
      readMarks: {
        mark: (conversation, messageId, signal) => react(post, { conversation, messageId, emoji }, signal),
        clear: (conversation, messageId, signal) => react(post, { conversation, messageId, emoji: undefined }, signal),
      },
    }),
  };
}

interface Mark {
  readonly conversation: Conversation;
  /** `Inbound.id`. */
  readonly messageId: string;
  /** Undefined: it is taken back. */
  readonly emoji: ReactionEmoji | undefined;
}

/** https://core.telegram.org/bots/api#setmessagereaction */
async function react(post: Post, { messageId, emoji }: Mark, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const ref = messageRefOf(messageId);
  // A press on a button has no message to react to.
  if (ref === undefined) return;
  const reaction = emoji === undefined ? [] : [{ type: "emoji" as const, emoji }];
  await post(
    ref.chatId,
    (raw, chat_id, s) => raw.setMessageReaction({ chat_id, message_id: ref.messageId, reaction }, s),
    signal,
    "sign",
  );
}

// The bot's account: its id and name, problems that keep messages from it, and `svc channels setup`.

interface Identity {
  /** Undefined: the token does not begin with an id. */
  readonly id: number | undefined;
  /** Without the @. Undefined until it was asked for once. */
  readonly username: string | undefined;
  /** Reads what the last process stored. An unreadable state is no error: the name is fetched again anyway. */
  recall(): Promise<void>;
  /** Fetches the bot's account. Throws as `BotApi.call`, and REMOTE_UNREACHABLE for an answer that can't be read. */
  ask(signal: AbortSignal): Promise<Fields & { readonly username: string }>;
}

const NAME = "bot";

function createIdentity(api: BotApi, { config, state }: Pick<FeatureContext<Config>, "config" | "state">): Identity {
  const id = /^([1-9]\d{0,15}):/.exec(config.bot_token)?.[1];
  let username: string | undefined;
  return {
    id: id === undefined ? undefined : Number(id),
    get username() {
      return username;
    },
    async recall() {
      const stored = await state.get(NAME).catch(() => undefined);
      const known = fieldsOf(stored === undefined ? undefined : parseJson(Buffer.from(stored)));
      // Another token is another bot.
      if (known["id"] === id) username ??= wordOf(known["username"]);
    },
    async ask(signal) {
      const me = fieldsOf(await api.call((raw, s) => raw.getMe(s), signal));
      const name = wordOf(me["username"]);
      if (name === undefined || !/^\w+$/.test(name)) {
        throw new SvcError("REMOTE_UNREACHABLE", "The platform's answer can't be read.", {
          hint: "Check the channel's api_url.",
        });
      }
      if (name !== username)
        await state.set(NAME, JSON.stringify({ id, username: name } as Json)).catch(() => undefined);
      username = name;
      return { ...me, username: name };
    },
  };
}

interface AccountDeps {
  readonly api: BotApi;
  readonly identity: Identity;
  readonly config: Pick<Config, "mode" | "mention_only">;
}

/** The bot's name, and what keeps messages from it, in one line. */
async function accountLine({ api, identity, config }: AccountDeps, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  try {
    const me = await identity.ask(signal);
    const webhook = fieldsOf(await api.call((raw, s) => raw.getWebhookInfo(s), signal));
    return [`@${me.username}`, privacyNote(me, config), webhookNote(webhook, config)].filter((note) => note).join("; ");
  } catch (error) {
    signal.throwIfAborted();
    return asCheckFailure(error);
  }
}

/** https://core.telegram.org/bots/features#privacy-mode */
function privacyNote({ can_read_all_group_messages: readsAll }: Fields, config: AccountDeps["config"]): string {
  if (config.mention_only || readsAll !== false) return "";
  return "its privacy mode hides from it what is said in groups, although mention_only is off: /setprivacy at @BotFather";
}

/** https://core.telegram.org/bots/api#webhookinfo */
function webhookNote(info: Fields, { mode }: AccountDeps["config"]): string {
  const isSet = textOf(info["url"]) !== undefined;
  if (mode === "polling") return isSet ? "a webhook stands in the way of polling: svc channels setup telegram" : "";
  if (!isSet) return "no webhook is set yet: svc channels setup telegram";
  const waiting = numberOf(info["pending_update_count"]) ?? 0;
  if (waiting === 0 || info["last_error_date"] === undefined) return "its webhook is set";
  return `its webhook is set, and ${waiting} messages wait because the last delivery failed`;
}

type Mode = Pick<Config, "mode" | "webhook_secret">;

/** `svc channels setup`: how updates arrive, and the menu of commands. https://core.telegram.org/bots/api#setwebhook */
function setupOf(api: BotApi, config: Mode): NonNullable<Channel["setup"]> {
  return async ({ url }, signal) => {
    signal.throwIfAborted();
    if (config.mode === "webhook") demandReachable(url);
    try {
      const mode = config.mode === "webhook" ? await setWebhook(api, config, url, signal) : await poll(api, signal);
      await api.call((raw, s) => raw.setMyCommands({ commands: COMMANDS }, s), signal);
      const names = COMMANDS.map(({ command }) => `/${command}`).join(" ");
      return `${mode} The menu of commands is set: ${names}.`;
    } catch (error) {
      signal.throwIfAborted();
      return asCheckFailure(error);
    }
  };
}

/** Pending messages are not dropped: the platform delivers them now. */
async function setWebhook(api: BotApi, { webhook_secret: secret }: Mode, url: string, signal: AbortSignal) {
  await api.call(
    (raw, s) =>
      raw.setWebhook(
        {
          url,
          allowed_updates: UPDATE_KINDS,
          drop_pending_updates: false,
          ...(secret !== undefined && { secret_token: secret }),
        },
        s,
      ),
    signal,
  );
  return "The platform posts messages to svc from now on.";
}

async function poll(api: BotApi, signal: AbortSignal): Promise<string> {
  const info = fieldsOf(await api.call((raw, s) => raw.getWebhookInfo(s), signal));
  if (textOf(info["url"]) === undefined) return "svc asks the platform for messages; no webhook stands in the way.";
  await api.call((raw, s) => raw.deleteWebhook({ drop_pending_updates: false }, s), signal);
  return "The webhook that stood in the way is gone; svc asks the platform for messages.";
}

const PORTS: ReadonlySet<string> = new Set(["", "80", "88", "8443"]);

/** Throws CHANNEL_CANNOT for an address that the platform would refuse. */
function demandReachable(url: string): void {
  if (!URL.canParse(url)) {
    throw new SvcError("CHANNEL_CANNOT", "The platform needs an address to post to.", {
      hint: 'Set gateway.public_url to the https address of this service, or mode = "polling".',
    });
  }
  const { protocol, port } = new URL(url);
  if (protocol === "https:" && PORTS.has(port)) return;
  throw new SvcError("CHANNEL_CANNOT", "The platform posts only to https, on port 443, 80, 88 or 8443.", {
    hint: 'Change gateway.public_url, or set mode = "polling".',
  });
}

/**
 * Fetches a file that a person sent, in two steps: look up the id, then fetch its path. The URL of a file contains the
 * token, so it must not appear in an error or the log.
 * https://core.telegram.org/bots/api#getfile
 */
function mediaFetch(
  api: BotApi,
  { config, fetch, clock }: Pick<FeatureContext<Config>, "config" | "fetch" | "clock">,
): Media["fetch"] {
  return async ({ ref }, write, signal) => {
    if (!/^[\w-]{1,512}$/.test(ref)) throw unfetchable("This is no file id of the platform.");
    const file = fieldsOf(await api.call((raw, s) => raw.getFile({ file_id: ref }, s), signal).catch(asMediaError));
    const { mimeType } = await downloadMedia(fetch, {
      url: `${config.api_url}/file/bot${config.bot_token}/${pathOf(textOf(file["file_path"]))}`,
      maxBytes: MAX_FILE_BYTES,
      redirects: "same-host",
      write,
      signal,
      nowMs: clock.now(),
    });
    // The platform gives this type to every file; the message's own type is better.
    return mimeType === undefined || mimeType === "application/octet-stream" ? {} : { mimeType };
  };
}

/** Below the platform's own folder. A Bot API server run with --local answers with a path of its own machine. */
function pathOf(path: string | undefined): string {
  if (path === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The platform does not say where the file is.");
  if (path.startsWith("/")) {
    throw unfetchable("The server keeps files to itself.", "Run your Bot API server without --local.");
  }
  return path
    .split("/")
    .map((part) => pathPart(part, "MEDIA_REFUSED"))
    .join("/");
}

/** Turns errors of sending into errors of fetching a file. */
function asMediaError(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { code, message, hint, retryAfterMs } = error;
  // The API redirects to somewhere else.
  if (code === "DELIVERY_REFUSED" || code === "ADDRESS_REFUSED") throw unfetchable(message, hint);
  if (code !== "DELIVERY_FAILED") throw error;
  throw new SvcError("REMOTE_UNREACHABLE", message, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

const unfetchable = (message: string, hint?: string): SvcError =>
  new SvcError("MEDIA_REFUSED", message, { ...(hint !== undefined && { hint }) });
