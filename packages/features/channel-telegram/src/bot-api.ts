/** The Bot API: its names, requests within its limits, its refusals as errors, and fields of its JSON. */
import { type Clock, type Conversation, type ErrorCode, type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Fields, type PlatformAnswer, fieldsOf, parseJson, platformCall, retryAfterMs } from "@svc/kit";
import type { Api, InputFile, RawApi } from "grammy/web";
import type { Config } from "./config.ts";

/** The channel's id: the last part of the section's name. */
export const CHANNEL = "telegram";

/** Kinds of updates that the channel subscribes to. https://core.telegram.org/bots/api#update */
export const UPDATE_KINDS = ["message", "callback_query", "message_reaction"] as const;

/** Our commands, as the menu of the platform shows them. The core answers them. */
export const COMMANDS: readonly { readonly command: string; readonly description: string }[] = Object.freeze([
  { command: "new", description: "Begin a new conversation" },
  { command: "model", description: "Show the model, or choose another one" },
  { command: "status", description: "Show how things are" },
  { command: "stop", description: "Stop what is running" },
  { command: "help", description: "Show what can be done here" },
]);

/** The types come from grammY's other build, which has its own `AbortSignal`. */
export type Signal = Parameters<RawApi["getMe"]>[0];

export interface BotApi {
  /**
   * What the platform answers, as it came. Throws what `refusalOf` makes of a refusal, and REMOTE_*; an abort with the
   * signal's reason.
   */
  call(work: (api: RawApi, signal: Signal) => Promise<unknown>, signal: AbortSignal): Promise<Json | undefined>;
  /** A file to upload. */
  upload(bytes: Uint8Array, name: string): Promise<InputFile>;
}

type Options = NonNullable<ConstructorParameters<typeof Api>[1]>;

/** Requests by grammY, which is loaded with the first of them. */
export function createBotApi({
  config,
  fetch,
  clock,
}: Pick<FeatureContext<Config>, "config" | "fetch" | "clock">): BotApi {
  const transport = guardedTransport({ fetch, clock }) as unknown as NonNullable<Options["fetch"]>;
  const load = async () => {
    // Its build for the web: the requests are ours, and the other build brings an HTTP client that would stay unused.
    const grammy = await import("grammy/web");
    return { grammy, api: new grammy.Api(config.bot_token, { apiRoot: config.api_url, fetch: transport }).raw };
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => (loading ??= load());

  return {
    async call(work, signal) {
      signal.throwIfAborted();
      const { grammy, api } = await loaded();
      try {
        return ((await work(api, signal as unknown as Signal)) ?? undefined) as Json | undefined;
      } catch (error) {
        signal.throwIfAborted();
        // grammY's errors hold the whole request, with its secrets: neither is passed on, not even as a cause.
        if (error instanceof grammy.GrammyError) throw refusalOf(error);
        if (error instanceof grammy.HttpError) throw transportError(error.error);
        throw error;
      }
    },
    async upload(bytes, name) {
      const { grammy } = await loaded();
      // grammY writes the name as it is: with quotes around it, nothing in it can end it.
      return new grammy.InputFile(bytes, `"${name.replaceAll(/[\p{C}"\\]/gu, "_")}"`);
    },
  };
}

const transportError = (error: unknown): SvcError =>
  error instanceof SvcError ? error : new SvcError("REMOTE_UNREACHABLE");

// The HTTP client that grammY gets: the service's guarded one. An answer that is not in the platform's own form (a proxy's
// page, a server that is down) becomes an error here.
// https://core.telegram.org/bots/api#making-requests

/** The part of `fetch` that grammY uses. */
export type Transport = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | AsyncIterable<Uint8Array>;
    readonly signal: AbortSignal;
  },
) => Promise<{ json(): Promise<Json> }>;

/** How long the platform holds a request for updates. */
export const POLL_SECS = 30;

/** Longer than the platform's own limit: a connection that is silent for longer is dead. */
const POLL_LIMIT_MS = (POLL_SECS + 15) * 1000;
const UPLOAD_LIMIT_MS = 300_000;
const LIMIT_MS = 30_000;
/** A hundred updates, each with a long text and its formatting. */
const MAX_ANSWER_BYTES = 16_777_216;

function guardedTransport({ fetch, clock }: Pick<FeatureContext, "fetch" | "clock">): Transport {
  return async (url, { headers, body, signal }) => {
    const given = typeof body === "string" ? body : await collected(body);
    const answer = await platformCall(fetch, {
      url,
      method: "POST",
      headers: { "content-type": headers["content-type"] ?? "application/json" },
      body: given,
      answers: ERROR_STATUSES,
      maxBytes: MAX_ANSWER_BYTES,
      timeoutMs: limitOf(url, typeof body !== "string"),
      signal,
      nowMs: clock.now(),
    });
    const envelope = envelopeOf(answer, clock.now());
    return { json: async () => envelope };
  };
}

/** All of them are answers here: the body says what they mean. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

const limitOf = (url: string, isUpload: boolean): number =>
  isUpload ? UPLOAD_LIMIT_MS : url.endsWith("/getUpdates") ? POLL_LIMIT_MS : LIMIT_MS;

/** Throws for a refusal that is not in the platform's form. A success that is not in its form counts as a success. */
function envelopeOf({ status, headers, json }: PlatformAnswer, nowMs: number): Json {
  const fields = fieldsOf(json);
  const waitMs = retryAfterMs(headers["retry-after"], nowMs);
  if (fields["ok"] === true) return fields as Json;
  if (fields["ok"] === false) {
    const wait = waitMs === undefined ? {} : { retry_after: waitMs / 1000 };
    return { ...fields, parameters: { ...wait, ...fieldsOf(fields["parameters"]) } };
  }
  if (status < 400) return { ok: true, result: null };
  throw problemOf({ code: status, description: "", retryAfterMs: waitMs });
}

async function collected(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

// The platform's error answers as errors. https://core.telegram.org/bots/api#making-requests

/** As grammY passes it on, unchecked. */
export interface PlatformRefusal {
  readonly error_code: unknown;
  readonly description: unknown;
  readonly parameters: unknown;
}

function refusalOf(refusal: PlatformRefusal): SvcError {
  const code = typeof refusal.error_code === "number" ? refusal.error_code : 500;
  const description = typeof refusal.description === "string" ? refusal.description : "";
  const { retry_after: waitSecs, migrate_to_chat_id: to } = fieldsOf(refusal.parameters as Json);
  const toChatId = idOf(to);
  if (toChatId !== undefined) return new Migrated(toChatId);
  if (code === 400 && /can't parse entities/i.test(description)) return new BadFormatting();
  if (code === 400 && /message is not modified/i.test(description)) return new NotModified();
  if (code === 400 && /PHOTO_|IMAGE_PROCESS|STICKER_|wrong (?:file )?type|can't use file of type/i.test(description)) {
    return new BadFile();
  }
  const secs = numberOf(waitSecs);
  return problemOf({ code, description, retryAfterMs: secs === undefined ? undefined : Math.max(0, secs) * 1000 });
}

// Refusals that this channel handles itself. To all other code each is a refused message.

/** A group became a supergroup: it has another id now. https://core.telegram.org/bots/api#responseparameters */
class Migrated extends SvcError {
  readonly toChatId: number;

  constructor(toChatId: number) {
    super("DELIVERY_REFUSED", "This group has become a supergroup, and has another id.");
    this.toChatId = toChatId;
  }
}

/** The platform could not read the text as HTML. */
export class BadFormatting extends SvcError {
  constructor() {
    super("DELIVERY_REFUSED", "The platform can't read the formatting of the text.");
  }
}

/** An edit that would change nothing. */
export class NotModified extends SvcError {
  constructor() {
    super("DELIVERY_REFUSED", "The message says that already.");
  }
}

/** Not a picture, sound or film that the platform accepts; it can still be sent as a document. */
export class BadFile extends SvcError {
  constructor() {
    super("DELIVERY_REFUSED", "The platform can't read the file as the media type that it was sent as.");
  }
}

/**
 * What an error of the platform means to us. The platform's text is never passed on: it may quote the token or the message.
 */
export interface Problem {
  readonly code: number;
  /** As the platform says it; blank: it is not the platform that says it. */
  readonly description: string;
  readonly retryAfterMs?: number | undefined;
}

/**
 * CHANNEL_UNAUTHORIZED, CHANNEL_DOWN (another program takes the updates), DELIVERY_REFUSED (the same request would be refused
 * again), DELIVERY_FAILED (it may be taken later).
 */
function problemOf({ code, description, retryAfterMs }: Problem): SvcError {
  const isOwn = description !== "";
  if (code === 401 || (code === 404 && isOwn)) return unauthorized();
  if (code === 403 && !isOwn) return plain("CHANNEL_UNAUTHORIZED", code);
  if (code === 409 && isOwn) return conflict(description);
  if (code === 429) {
    return new SvcError("DELIVERY_FAILED", "The platform wants us to write less for a while.", {
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  const mayPass = code >= 500 || code === 408 || code === 425;
  if (mayPass) return plain("DELIVERY_FAILED", code, retryAfterMs);
  const known = knownRefusal(description);
  return known === undefined ? plain("DELIVERY_REFUSED", code) : refused(known);
}

const plain = (code: ErrorCode, status: number, retryAfterMs?: number): SvcError =>
  new SvcError(code, `The platform answered with status ${status}.`, {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

const refused = ({ sentence, hint }: { readonly sentence: string; readonly hint?: string }): SvcError =>
  new SvcError("DELIVERY_REFUSED", sentence, { ...(hint !== undefined && { hint }) });

/** The platform answers 404 to a malformed token. */
const unauthorized = (): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "The platform does not know the bot token.", {
    hint: "Ask @BotFather for it (/token), then: svc secrets set channels_config.telegram.bot_token",
  });

function conflict(description: string): SvcError {
  if (/webhook/i.test(description)) {
    return new SvcError("CHANNEL_DOWN", "A webhook is set for this bot, and polling is refused meanwhile.", {
      hint: 'Take it away with: svc channels setup telegram. Or set mode = "webhook".',
    });
  }
  return new SvcError("CHANNEL_DOWN", "Another program asks for the messages of this bot, with the same token.", {
    hint: "Stop the other one, or make a bot of its own for each of them with @BotFather.",
  });
}

/**
 * The platform's refusals in our words, those that a conversation can meet. It documents no list of them: these are what its
 * server says. https://github.com/tdlib/telegram-bot-api
 */
export interface Refusal {
  readonly sentence: string;
  readonly hint?: string;
}

/** Undefined for one that is not known. */
export const knownRefusal = (description: string): Refusal | undefined =>
  REFUSALS.find(([pattern]) => pattern.test(description))?.[1];

const says = (sentence: string, hint?: string): Refusal => ({ sentence, ...(hint !== undefined && { hint }) });

const REFUSALS: readonly (readonly [RegExp, Refusal])[] = [
  // The chat
  [
    /chat not found|PEER_ID_INVALID/i,
    says(
      "The platform knows no such chat, or the bot was never in it.",
      "The person must write to the bot first, with /start. In a group, add the bot.",
    ),
  ],
  [
    /can't initiate conversation/i,
    says(
      "This person has never written to the bot, and it may not write first.",
      "Let them open the bot, and press START.",
    ),
  ],
  [/blocked by the user/i, says("This person has blocked the bot.", "They must unblock it in their chat with it.")],
  [/user is deactivated/i, says("This person's account is gone.")],
  [/bots can't send messages to bots/i, says("The platform lets no bot write to another one.")],
  [
    /kicked from|not a member of|group chat was deleted|chat was deactivated/i,
    says("The bot is not in this group or channel any more.", "Add it again."),
  ],
  [
    /not enough rights|have no rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|CHAT_SEND_[A-Z]{1,30}_FORBIDDEN|need administrator rights/i,
    says("The bot may not write this there.", "Give it the right to, in the settings of the group."),
  ],
  [/message thread not found/i, says("There is no such topic in this group any more.")],
  [/TOPIC_CLOSED/i, says("This topic is closed.", "Open it, or make the bot an administrator of the group.")],
  [/upgraded to a supergroup/i, says("This group has become a supergroup, which the bot does not know yet.")],

  // The message
  [/message is too long|caption is too long/i, says("The text is longer than the platform takes.")],
  [/text is empty|text must be non-empty/i, says("The platform takes no text of nothing but white space.")],
  [
    /to edit not found|can't be edited|no text in the message/i,
    says("The message that was to be changed is gone, or can't be changed."),
  ],
  [/replied not found/i, says("The message that was to be answered is gone.")],

  // Files
  [/file is too big|Request Entity Too Large/i, says("The file is larger than the platform takes.")],
  [/file must be non-empty/i, says("The file is empty, and the platform takes no empty file.")],
  [/wrong file_id|invalid file_id|temporarily unavailable/i, says("The platform does not have the file any more.")],

  // The webhook
  [
    /bad webhook/i,
    says(
      "The platform does not take the address of the webhook.",
      "It wants https, on port 443, 80, 88 or 8443, and a name that the world can resolve.",
    ),
  ],
];

// Requests about a chat: to the chat's current id, within the platform's limits.

interface PostDeps {
  readonly api: BotApi;
  readonly migrations: Migrations;
  readonly pacing: Pacing;
}

export interface Post {
  /** As `BotApi.call`; `edit` waits for no turn. `work` is handed the chat's id. */
  (
    chatId: number | string,
    work: (raw: RawApi, chatId: number | string, signal: Signal) => Promise<unknown>,
    signal: AbortSignal,
    kind?: "message" | "edit" | "sign",
  ): Promise<Json | undefined>;
}

/** `sign`: what people see beside messages, which has no turn. */
export function createPost({ api, migrations, pacing }: PostDeps): Post {
  return async (chatId, work, signal, kind = "message") => {
    const post = async (to: number | string): Promise<Json | undefined> => {
      if (kind === "message") await pacing.turn(to, signal);
      else if (kind === "edit") pacing.edit(to);
      try {
        return await api.call((raw, s) => work(raw, to, s), signal);
      } catch (error) {
        const waitMs = error instanceof SvcError ? error.retryAfterMs : undefined;
        if (waitMs !== undefined && kind !== "sign") pacing.pause(to, waitMs);
        throw error;
      }
    };
    signal.throwIfAborted();
    const current = await migrations.current(chatId);
    try {
      return await post(current);
    } catch (error) {
      if (!(error instanceof Migrated)) throw error;
      await migrations.add(chatId, error.toChatId);
      return post(error.toChatId);
    }
  };
}

/** Groups that became supergroups have a new id: messages for the old id go to the new one. */
interface Migrations {
  /** The current id. Rejects with STORE_*. */
  current(chatId: number | string): Promise<number | string>;
  add(from: number | string, to: number): Promise<void>;
}

const NAME = "migrated-groups";

export function migrationsIn({ state }: Pick<FeatureContext, "state">): Migrations {
  let loading: Promise<Map<string, number>> | undefined;
  const load = (): Promise<Map<string, number>> =>
    (loading ??= state.get(NAME).then(idsOf, (error: unknown) => {
      // The next try may be able to read it.
      loading = undefined;
      throw error;
    }));
  return {
    async current(chatId) {
      return (await load()).get(String(chatId)) ?? chatId;
    },
    async add(from, to) {
      const all = await load();
      all.set(String(from), to);
      // A full disk is no error: the platform reports the new id again.
      await state.set(NAME, JSON.stringify(Object.fromEntries(all))).catch(() => undefined);
    },
  };
}

function idsOf(text: string | undefined): Map<string, number> {
  const ids: Json | undefined = text === undefined ? undefined : parseJson(Buffer.from(text));
  return new Map(
    Object.entries(fieldsOf(ids)).flatMap(([from, to]) => (idOf(to) === undefined ? [] : [[from, to as number]])),
  );
}

/**
 * Stays within the platform's limits, so that it never has to refuse: to one person about a message a second with short bursts above it, to
 * a group twenty a minute, edits included, to all thirty a second.
 * https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
 */
interface Pacing {
  /** Waits until a message may be sent. Throws DELIVERY_FAILED with `retryAfterMs` if that takes too long. */
  turn(chatId: number | string, signal: AbortSignal): Promise<void>;
  /** The same for an edit of a draft, which never waits: the next edit contains its text. */
  edit(chatId: number | string): void;
  /** The platform asked for no messages to this chat during `ms`. */
  pause(chatId: number | string, ms: number): void;
}

/** `burst` at once, and one more every `everyMs`. */
interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** Five at once and fifteen in the minute after them are twenty. */
const GROUP: Rate = { burst: 5, everyMs: 4_000 };
const PRIVATE: Rate = { burst: 20, everyMs: 1_000 };
const ALL: Rate = { burst: 20, everyMs: 100 };

/** Edits of one answer take twelve of a group's twenty a minute: the others are for other messages. */
export const GROUP_DRAFT_MS = 5_000;

/** A message that would wait longer goes back to the outbox, with the time to retry. */
const LONGEST_MS = 10_000;
const MOST_CHATS = 1_000;

export function createPacing(clock: Pick<Clock, "monotonic" | "sleep">): Pacing {
  /** When the last admitted message would be due if all were sent evenly. */
  const dueAtMs = new Map<string, number>();
  const pausedUntilMs = new Map<string, number>();

  const waitOf = (key: string, { burst, everyMs }: Rate, nowMs: number): number =>
    Math.max(0, (dueAtMs.get(key) ?? 0) - (burst - 1) * everyMs - nowMs);
  const take = (key: string, { everyMs }: Rate, nowMs: number): void => {
    dueAtMs.set(key, Math.max(nowMs, dueAtMs.get(key) ?? 0) + everyMs);
    if (dueAtMs.size <= MOST_CHATS) return;
    for (const [other, atMs] of dueAtMs) if (atMs <= nowMs) dueAtMs.delete(other);
  };
  const demandNoPause = (key: string, nowMs: number): void => {
    const pauseMs = (pausedUntilMs.get(key) ?? 0) - nowMs;
    if (pauseMs > 0) throw later(pauseMs);
    pausedUntilMs.delete(key);
  };

  return {
    async turn(chatId, signal) {
      signal.throwIfAborted();
      const nowMs = clock.monotonic();
      const key = String(chatId);
      demandNoPause(key, nowMs);
      const own = isGroup(chatId) ? GROUP : PRIVATE;
      const waitMs = Math.max(waitOf(key, own, nowMs), waitOf("all", ALL, nowMs));
      if (waitMs > LONGEST_MS) throw later(waitMs);
      take(key, own, nowMs);
      take("all", ALL, nowMs);
      if (waitMs > 0) await clock.sleep(waitMs, signal);
    },
    edit(chatId) {
      const nowMs = clock.monotonic();
      const key = String(chatId);
      demandNoPause(key, nowMs);
      if (!isGroup(chatId)) return;
      const waitMs = waitOf(key, GROUP, nowMs);
      if (waitMs > 0) throw later(waitMs);
      take(key, GROUP, nowMs);
    },
    pause(chatId, ms) {
      pausedUntilMs.set(String(chatId), clock.monotonic() + ms);
    },
  };
}

const later = (retryAfterMs: number): SvcError =>
  new SvcError("DELIVERY_FAILED", "The platform wants us to write less for a while.", { retryAfterMs });

/** Where a message goes. https://core.telegram.org/bots/api#sendmessage */
export interface Target {
  /** A number, or the @username of a public group or channel. */
  readonly chatId: number | string;
  /** A topic's number. */
  readonly threadId: number | undefined;
}

/**
 * `-1001234567890`, `@somewhere`; also `-1001234567890/12`, since a `notification_target` may be a topic. Throws
 * DELIVERY_REFUSED for any other text.
 */
export function targetOf({ id, thread }: Conversation): Target {
  const [, chat, topic = thread] = /^(-?[1-9]\d{0,15}|@[A-Za-z]\w{3,31})(?:\/(\d{1,10}))?$/.exec(id.trim()) ?? [];
  if (chat === undefined || (topic !== undefined && !/^\d{1,10}$/.test(topic))) {
    throw new SvcError("DELIVERY_REFUSED", "This is no chat of the platform.", {
      hint: "Write the number of a chat, such as 123456789 or -1001234567890, or the @username of a public group.",
    });
  }
  // General has the number 1, and takes messages only without it.
  const threadId = topic === undefined || Number(topic) <= 1 ? undefined : Number(topic);
  return { chatId: chat.startsWith("@") ? chat : Number(chat), threadId };
}

/** Groups and channels have negative numbers. */
export const isGroup = (chatId: number | string): boolean => typeof chatId === "string" || chatId < 0;

/** A message of ours by its number. Throws DELIVERY_REFUSED for a text that is no number. */
export function messageNumber(platformId: string): number {
  if (!/^[1-9]\d{0,15}$/.test(platformId)) {
    throw new SvcError("DELIVERY_REFUSED", "This is no message of the platform.");
  }
  return Number(platformId);
}

// Fields of the JSON of the Bot API, read without trust. https://core.telegram.org/bots/api

/** Undefined where there is no such object. */
export const someFields = (value: Json | undefined): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

/** Ids of the platform are whole numbers of at most 52 bits. https://core.telegram.org/bots/api#user */
export const idOf = (value: Json | undefined): number | undefined =>
  Number.isSafeInteger(value) && value !== 0 ? (value as number) : undefined;

export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
