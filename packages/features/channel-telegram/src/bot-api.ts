/** Requests to the platform, and its refusals as errors. */
import { type ErrorCode, type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type PlatformAnswer, platformCall, retryAfterMs } from "@svc/kit";
import type { Api, InputFile, RawApi } from "grammy/web";
import type { Config } from "./config.ts";
import { fieldsOf, idOf, numberOf } from "./protocol.ts";

// Requests to the platform by grammY, which is loaded with the first of them.

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

// The HTTP client that grammY is handed: the service's guarded one. Whatever comes back that is not in the platform's own
// form (a proxy's page, a server that is down) becomes an error here.
// https://core.telegram.org/bots/api#making-requests

/** What grammY asks its `fetch` for, and the one thing that it does with the answer. */
export type Transport = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | AsyncIterable<Uint8Array>;
    readonly signal: AbortSignal;
  },
) => Promise<{ json(): Promise<Json> }>;

/** A request for updates is held by the platform for so long. */
export const POLL_SECS = 30;

/** Beyond the platform's own: who says nothing for longer is gone. */
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

/** All of them are answers here: what they mean is for the body to say. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

const limitOf = (url: string, isUpload: boolean): number =>
  isUpload ? UPLOAD_LIMIT_MS : url.endsWith("/getUpdates") ? POLL_LIMIT_MS : LIMIT_MS;

/** Throws what a refusal in another form than the platform's means; an acceptance in one is an acceptance. */
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

/** As grammY hands it on, unchecked. */
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

// Refusals after which the channel itself goes on. For all other code each is a refused message.

/** A group became a supergroup: it has another id now. https://core.telegram.org/bots/api#responseparameters */
export class Migrated extends SvcError {
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

/** It is no picture, sound or film as the platform wants one: a document it may be all the same. */
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
