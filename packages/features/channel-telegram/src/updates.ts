/** Updates: how they arrive (by long polling, or posted by the platform), and what they mean. https://core.telegram.org/bots/api#update */
import {
  DEDUPE_MS,
  type FeatureContext,
  type Inbound,
  type Ingress,
  type IngressReply,
  type Json,
  type RawRequest,
  type SampleDelivery,
  type SampleMessage,
  SvcError,
  type Verdict,
} from "@svc/contract";
import {
  type Backoff,
  equalSecrets,
  readJson,
  retryDelayMs,
  type Fields,
  fieldsOf,
  listOf,
  textOf,
  wordOf,
} from "@svc/kit";
import { createHash } from "node:crypto";
import { type BotApi, POLL_SECS, CHANNEL, UPDATE_KINDS, idOf, someFields } from "./bot-api.ts";
import type { Config } from "./config.ts";
import { type MessageReading, type ReadMessage, conversationOf, readMessage } from "./message.ts";
import { choiceOf } from "./send.ts";

export interface PollingDeps {
  readonly api: BotApi;
  readonly read: UpdateReader;
  readonly context: Pick<FeatureContext, "clock" | "log" | "receive">;
}

/** Asks until it is aborted. Throws as `BotApi.call`, and REMOTE_UNREACHABLE for an answer that can't be read. */
export type Polling = (signal: AbortSignal) => Promise<void>;

const MOST_UPDATES = 100;
/** The pictures of an album come one by one. */
const ALBUM_MS = 700;
/** Without it, a server that answers empty at once would get a thousand requests a second. */
const LEAST_MS = 1_000;
/** After updates that could not be stored. */
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 };

/**
 * Long polling. Requesting later updates confirms the earlier ones, so it happens only when those are on disk: after a crash the
 * platform hands them over again, and their ids mark them as duplicates.
 * https://core.telegram.org/bots/api#getupdates
 */
export function createPolling({ api, read, context }: PollingDeps): Polling {
  const { clock, log, receive } = context;
  /** After the last update that is on disk. Not stored: after a week without updates the platform restarts its numbers. */
  let offset: number | undefined;
  let failures = 0;

  const ask = async (timeoutSecs: number, signal: AbortSignal): Promise<readonly Json[]> => {
    const updates = await api.call(
      (raw, s) =>
        raw.getUpdates(
          {
            ...(offset !== undefined && { offset }),
            limit: MOST_UPDATES,
            timeout: timeoutSecs,
            allowed_updates: UPDATE_KINDS,
          },
          s,
        ),
      signal,
    );
    if (!Array.isArray(updates)) throw unreadable();
    return updates as Json[];
  };

  /** A batch that ends inside an album is fetched again, as long as it grows. */
  const wholeBatch = async (signal: AbortSignal): Promise<{ updates: readonly Json[]; all: readonly ReadUpdate[] }> => {
    let updates = await ask(POLL_SECS, signal);
    for (;;) {
      const all = updates.map((update) => read(update, clock.now()));
      if (!endsInAlbum(all) || updates.length >= MOST_UPDATES) return { updates, all };
      await clock.sleep(ALBUM_MS, signal);
      const again = await ask(0, signal);
      if (again.length <= updates.length) return { updates, all };
      updates = again;
    }
  };

  /** Whether they are on disk. */
  const store = async (all: readonly ReadUpdate[], signal: AbortSignal): Promise<boolean> => {
    try {
      const inbound = inboundOf(all);
      if (inbound.length > 0) await receive(inbound);
      failures = 0;
      return true;
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof SvcError ? error.code : "unknown";
      failures += 1;
      const retryInMs = retryDelayMs(failures, BACKOFF);
      log.warn("updates could not be stored; will ask for them again", { channel: CHANNEL, reason, retryInMs });
      await clock.sleep(retryInMs, signal);
      return false;
    }
  };

  const answerPresses = (all: readonly ReadUpdate[], signal: AbortSignal): void => {
    for (const { queryId } of all) {
      if (queryId === undefined) continue;
      // Not awaited: until it is answered, the app only shows a spinner.
      void api
        .call((raw, s) => raw.answerCallbackQuery({ callback_query_id: queryId }, s), signal)
        .catch((error: unknown) =>
          log.debug("a press was not answered", { channel: CHANNEL, reason: (error as SvcError).code }),
        );
    }
  };

  return async (signal) => {
    while (!signal.aborted) {
      const askedAtMs = clock.monotonic();
      const { updates, all } = await wholeBatch(signal);
      if (!(await store(all, signal))) continue;
      answerPresses(all, signal);
      // An empty answer confirms every earlier update.
      offset = updates.length === 0 ? undefined : lastId(updates) + 1;
      if (updates.length === 0 && clock.monotonic() - askedAtMs < LEAST_MS) await clock.sleep(LEAST_MS, signal);
    }
  };
}

/** Throws without an id: the same updates would be requested again and again. */
function lastId(updates: readonly Json[]): number {
  const last = idOf(fieldsOf(updates.at(-1))["update_id"]);
  if (last === undefined) throw unreadable();
  return last;
}

const unreadable = (): SvcError => new SvcError("REMOTE_UNREACHABLE", "The platform's answer can't be read.");

/** Deliveries of webhook mode, with a secret in a header. https://core.telegram.org/bots/api#setwebhook */
export function ingressOf(config: Pick<Config, "webhook_secret" | "allowed_users">, read: UpdateReader): Ingress {
  return {
    path: "/telegram",
    methods: ["POST"],
    signed: true,
    // The platform gives up a delivery after a day: an older one, whose id is forgotten, is a replay.
    maxAgeMs: DEDUPE_MS,
    verify: (request) => verified(request, config.webhook_secret),
    parse({ body, receivedAtMs }) {
      const update = read(readJson(body), receivedAtMs);
      return {
        inbound: inboundOf([update]),
        ...(update.queryId !== undefined && { reply: answerTo(update.queryId) }),
      };
    },
    sample: (message) => sampleDelivery(message, config),
  };
}

function verified({ headers }: RawRequest, secret: string | undefined): Verdict {
  const given = headers["x-telegram-bot-api-secret-token"];
  if (equalSecrets(given, secret)) return { ok: true };
  const why = given === undefined ? "the secret token is missing" : "the secret token is not webhook_secret";
  return { ok: false, code: "BAD_SIGNATURE", why };
}

/** A request to the platform may be made in the answer to its delivery. https://core.telegram.org/bots/api#making-requests-when-getting-updates */
const answerTo = (queryId: string): IngressReply => ({
  status: 200,
  contentType: "application/json",
  body: JSON.stringify({ method: "answerCallbackQuery", callback_query_id: queryId }),
});

function sampleDelivery(
  { text, from, id, atMs }: SampleMessage,
  { webhook_secret: secret, allowed_users: allowed }: Pick<Config, "webhook_secret" | "allowed_users">,
): SampleDelivery {
  const who = (from ?? allowed.find((entry) => entry.trim() !== "*") ?? ANY_USER).trim();
  const isId = /^\d{1,16}$/.test(who);
  const user = { id: isId ? Number(who) : numberOf(who), first_name: "svc webhook send" };
  const message = {
    message_id: numberOf(id),
    from: { ...user, is_bot: false, ...(!isId && { username: who.replace(/^@/, "") }) },
    chat: { ...user, type: "private" },
    date: Math.floor(atMs / 1000),
    text,
  };
  return {
    method: "POST",
    query: "",
    headers: {
      "content-type": "application/json",
      ...(secret !== undefined && { "x-telegram-bot-api-secret-token": secret }),
    },
    body: Buffer.from(JSON.stringify({ update_id: numberOf(id), message })),
  };
}

/** An id of the platform's test servers. */
const ANY_USER = "9996610000";

/** The platform's ids are numbers: the same text gives the same one. */
const numberOf = (text: string): number => (createHash("sha256").update(text).digest().readUInt32BE(0) >>> 1) + 1;

/**
 * What an update means to the service. An edited message is ignored: the first version has been answered, and people don't want an answer
 * to every corrected typo. https://core.telegram.org/bots/api#update
 */
interface ReadUpdate {
  readonly message?: ReadMessage;
  readonly inbound?: Inbound;
  /** A press that waits to be answered. */
  readonly queryId?: string;
}

/** Reads any JSON: an update of an unknown shape or kind yields nothing. */
type UpdateReader = (update: Json, receivedAtMs: number) => ReadUpdate;

/** `reading`: undefined until the bot's own name is known. */
export const updateReader =
  (reading: () => MessageReading | undefined): UpdateReader =>
  (update, receivedAtMs) => {
    const fields = fieldsOf(update);
    const [message, query, reaction] = [fields["message"], fields["callback_query"], fields["message_reaction"]].map(
      someFields,
    );
    const known = reading();
    if (known === undefined) return {};
    if (message) {
      const read = readMessage(message, known, receivedAtMs);
      return read ? { message: read } : {};
    }
    if (query) {
      const { inbound, queryId } = readPress(query, known, receivedAtMs) ?? {};
      return { ...(inbound && { inbound }), ...(queryId !== undefined && { queryId }) };
    }
    const updateId = idOf(fields["update_id"]);
    const inbound = reaction && updateId !== undefined && readReaction(reaction, updateId, known, receivedAtMs);
    return inbound ? { inbound } : {};
  };

// The platform delivers an album as one message per picture. This joins them into one message with all pictures and the
// caption.

/** Messages that are meant for the bot, in the order of the updates. */
function inboundOf(updates: readonly ReadUpdate[]): Inbound[] {
  const albums = new Map<string, ReadMessage[]>();
  for (const { message } of updates) {
    if (message?.albumId === undefined) continue;
    albums.set(keyOf(message), [...(albums.get(keyOf(message)) ?? []), message]);
  }
  return updates.flatMap(({ message, inbound }) => {
    if (message === undefined) return inbound ?? [];
    const album = albums.get(keyOf(message)) ?? [message];
    return album[0] === message && album.some(({ isForUs }) => isForUs) ? whole(album) : [];
  });
}

/** Its id is the platform's, but nothing keeps two chats from the same one. */
const keyOf = ({ albumId = "", inbound }: ReadMessage): string =>
  JSON.stringify([inbound.conversation.id, inbound.sender, albumId]);

function whole([first, ...others]: readonly ReadMessage[]): Inbound {
  const { inbound } = first as ReadMessage;
  if (others.length === 0) return inbound;
  const media = [inbound, ...others.map((other) => other.inbound)].flatMap((one) => one.media ?? []);
  return { ...inbound, text: [inbound.text, ...others.map(({ said }) => said)].join("\n"), media };
}

/** Whether the rest of an album may still be on its way. */
const endsInAlbum = (updates: readonly ReadUpdate[]): boolean => updates.at(-1)?.message?.albumId !== undefined;

/** A press on a button of a question of ours. https://core.telegram.org/bots/api#callbackquery */
interface ReadPress {
  /** Undefined for a button that this channel did not make. */
  readonly inbound: Inbound | undefined;
  /** The app shows that it waits until this is answered. */
  readonly queryId: string;
}

/** Undefined for a sender who is not allowed. */
function readPress(
  query: Fields,
  { me, senderOf }: Pick<MessageReading, "me" | "senderOf">,
  receivedAtMs: number,
): ReadPress | undefined {
  const queryId = wordOf(query["id"]);
  const message = fieldsOf(query["message"]);
  const chat = fieldsOf(message["chat"]);
  const chatId = idOf(chat["id"]);
  const sender = queryId === undefined || chatId === undefined ? undefined : senderOf(query);
  if (queryId === undefined || chatId === undefined || sender === undefined) return undefined;
  const data = textOf(query["data"]) ?? "";
  const choice = choiceOf(data);
  if (choice === undefined) return { queryId, inbound: undefined };
  return {
    queryId,
    inbound: {
      id: `${me.id}:press:${queryId}`,
      conversation: conversationOf(chatId, message),
      ...sender,
      ...(chat["type"] !== "private" && { group: true }),
      text: labelOf(message["reply_markup"], data) ?? (choice.approved ? "Approve" : "Reject"),
      choice,
      // The platform's time is that of the question, not that of the press.
      sentAtMs: receivedAtMs,
    },
  };
}

/** The label of the button with this data. The platform leaves out the buttons of an old message. */
function labelOf(markup: Json | undefined, data: string): string | undefined {
  const buttons = listOf(fieldsOf(markup)["inline_keyboard"]).flatMap(listOf).map(fieldsOf);
  return wordOf(buttons.find((button) => button["callback_data"] === data)?.["text"]);
}

// A reaction that a person set on a message, or took back. https://core.telegram.org/bots/api#messagereactionupdated

/** Undefined for a sender who is not allowed. `updateId`: a reaction has no id. */
function readReaction(
  reaction: Fields,
  updateId: number,
  { me, senderOf }: Pick<MessageReading, "me" | "senderOf">,
  receivedAtMs: number,
): Inbound | undefined {
  const [chatId, messageId] = [idOf(fieldsOf(reaction["chat"])["id"]), idOf(reaction["message_id"])];
  if (chatId === undefined || messageId === undefined) return undefined;
  const sender = senderOf(reaction);
  if (sender === undefined) return undefined;
  const emoji = listOf(reaction["new_reaction"]).map((one) => textOf(fieldsOf(one)["emoji"]) ?? "");
  return {
    kind: "reaction",
    id: `${me.id}:update:${updateId}`,
    conversation: { channel: CHANNEL, id: String(chatId) },
    ...sender,
    text: emoji.join("").slice(0, MAX_CHARS).toWellFormed(),
    sentAtMs: receivedAtMs,
    replyData: { messageId },
  };
}

/** Premium users may set three. */
const MAX_CHARS = 100;
