/** The channel: events come in by the gateway, everything else goes through the platform's API. */
import {
  type Channel,
  type Contributions,
  type Conversation,
  type Drafts,
  type FeatureContext,
  type OutgoingMessage,
  type Prompt,
  type Prompts,
  SvcError,
} from "@svc/contract";
import { MEDIA_KINDS, asCheckFailure, senderGate, sentPartsIn } from "@svc/kit";
import type { Config } from "./config.ts";
import {
  MAX_MEDIA_BYTES,
  answeredCommands,
  cdnOf,
  mediaFetcher,
  messageId,
  messageSender,
  once,
  receiptOf,
  references,
  saying,
  sentId,
} from "./send.ts";
import { TEXT_CHARS } from "./format.ts";
import { readingIn } from "./intake.ts";
import { buttonsOf, interactionTokens } from "./interactions.ts";
import { guildGate, rooms as knownRooms } from "./message.ts";
import { type Places, directMessagesIn, placesBy } from "./places.ts";
import { CHANNEL, type Fields, PORTAL, fieldsOf, idOf, listOf, numberOf, wordOf } from "./protocol.ts";
import { HAS_A_THREAD, type Rest, identifyPace, restApi } from "./rest.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, clock, log, secrets, state } = context;
  const rest = restApi(config, context);
  const direct = directMessagesIn(state, rest);
  const places = placesBy(rest, direct);
  const tokens = interactionTokens(secrets, clock);
  const commands = answeredCommands(rest, tokens);
  const send = messageSender({ rest, places, references: references(), commands, sentParts: sentPartsIn(context) });
  const drafts = draftsBy(rest, places, config);

  const channel: Channel = {
    text: { maxChars: TEXT_CHARS },
    send,
    ...(drafts && { drafts }),
    prompts: promptPoster(rest, places, send),
    ...presenceOf(rest, places, config.ack_reaction),
    media: { maxBytes: MAX_MEDIA_BYTES, sends: MEDIA_KINDS, voiceNotes: true, fetch: mediaFetcher(config, context) },
    check: (signal) => accountLine(rest, signal),
    setup: (_options, signal) => setUp(rest, signal),
  };

  const rooms = knownRooms();
  const isAllowed = senderGate({ allowed: config.allowed_users, mode: "exact", log, channel: CHANNEL });
  const listensTo = guildGate(config.allowed_guilds, log);
  const reader = { config, rooms, cdn: cdnOf(config) };
  const pace = identifyPace(clock);
  const reading = readingIn(context);
  return {
    channel,
    async run(signal) {
      // The library is evaluated with the first connection.
      const { runGateway } = await import("./gateway.ts");
      const deps = { context, config, rest, reader, rooms, reading, direct, tokens, isAllowed, listensTo, pace };
      await runGateway(deps, signal);
    },
  };
}

/**
 * Questions with two buttons. On a server each opens a thread, in which it can be talked about and answered by a word.
 * https://docs.discord.com/developers/resources/channel#start-thread-from-message
 */
const THREAD_NAME_CHARS = 100;
/** A day without a word: longer than anything waits for an answer. */
const ARCHIVED_AFTER_MINUTES = 1_440;

/** `send`: for a question without room for buttons. */
function promptPoster(rest: Rest, places: Places, send: Channel["send"]): Prompts {
  return {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      const components = buttonsOf(prompt);
      if (components === undefined || message.text.length > TEXT_CHARS) return send(message, signal);
      const { channelId, opened } = await places.find(message.conversation, signal);
      // Before anything is to be seen.
      const hasThreads = await places.hasThreads(channelId, signal);
      // The words, with who asks and by which number: there is nothing else around a title that a stranger may have chosen.
      const json = { ...saying(message.text), ...once(message.deliveryId), components };
      const id = messageId(await rest.call({ path: `channels/${channelId}/messages`, json }, signal));
      const thread = hasThreads ? await openThread(rest, channelId, id, message, prompt, signal) : undefined;
      return receiptOf(id, thread ?? opened);
    },
    async close({ conversation, platformId, text }, outcome, signal) {
      signal.throwIfAborted();
      if (platformId === undefined) return;
      const id = sentId(platformId);
      const { channelId } = await places.find(conversation, signal);
      const end = shortened(outcome, TEXT_CHARS / 2);
      const json = { ...saying(`${shortened(text, TEXT_CHARS - end.length - 2)}\n\n${end}`), components: [] };
      await rest.call({ method: "PATCH", path: `channels/${channelId}/messages/${id}`, json }, signal);
    },
  };
}

/** Undefined: the bot may open none, and the question can be answered where it is. Posted again, it has one. */
async function openThread(
  rest: Rest,
  channelId: string,
  id: string,
  { conversation }: OutgoingMessage,
  { title }: Prompt,
  signal: AbortSignal,
): Promise<Conversation | undefined> {
  const name = shortened(title.replaceAll(/\s+/g, " ").trim(), THREAD_NAME_CHARS) || "Question";
  const json = { name, auto_archive_duration: ARCHIVED_AFTER_MINUTES };
  const outcome = await rest.attempt({ path: `channels/${channelId}/messages/${id}/threads`, json }, signal);
  if (!("error" in outcome)) {
    const threadId = idOf(fieldsOf(outcome.json)["id"]);
    return threadId === undefined ? undefined : { channel: conversation.channel, id: threadId };
  }
  // A thread has the id of the message that it began with.
  if (outcome.code === HAS_A_THREAD) return { channel: conversation.channel, id };
  if (outcome.error.code === "DELIVERY_REFUSED") return undefined;
  throw outcome.error;
}

const shortened = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;

// What people see while an answer is made: a draft that grows, “… is typing”, a reaction.

// https://docs.discord.com/developers/resources/message#edit-message

/** Five in five seconds of one channel; one second less than that no one gets. */
const LEAST_MS = 1_000;

/** Undefined: answers are sent when they are complete. */
function draftsBy(
  rest: Rest,
  places: Places,
  { stream_mode: mode, draft_update_interval_ms: intervalMs }: Config,
): Drafts | undefined {
  if (mode === "off") return undefined;
  return {
    mode,
    intervalMs: () => Math.max(LEAST_MS, intervalMs),
    async edit({ conversation, platformId }, text, signal) {
      signal.throwIfAborted();
      const id = sentId(platformId);
      const { channelId } = await places.find(conversation, signal);
      await rest.call({ method: "PATCH", path: `channels/${channelId}/messages/${id}`, json: saying(text) }, signal);
    },
  };
}

// "… is typing", and the reaction that a message has while it is answered.
// https://docs.discord.com/developers/resources/channel#trigger-typing-indicator
// https://docs.discord.com/developers/resources/message#create-reaction

/** Ten seconds, less what the next one takes. */
const TYPING_LASTS_MS = 9_000;

type Presence = Required<Pick<Channel, "typing">> & Pick<Channel, "readMarks">;

function presenceOf(rest: Rest, places: Places, reaction: string): Presence {
  const emoji = reaction.trim().toWellFormed();
  const react = async (method: "PUT" | "DELETE", at: Conversation, id: string, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    // Commands have no message that could be marked.
    const messageId = idOf(id);
    if (messageId === undefined) return;
    const { channelId } = await places.find(at, signal);
    const path = `channels/${channelId}/messages/${messageId}/reactions/${encodeURIComponent(emoji)}/@me`;
    await rest.call({ method, path }, signal);
  };
  return {
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start(conversation, _messageId, signal) {
        const { channelId } = await places.find(conversation, signal);
        await rest.call({ method: "POST", path: `channels/${channelId}/typing` }, signal);
      },
    },
    ...(emoji !== "" && {
      readMarks: {
        mark: (conversation, messageId, signal) => react("PUT", conversation, messageId, signal),
        clear: (conversation, messageId, signal) => react("DELETE", conversation, messageId, signal),
      },
    }),
  };
}

// The bot's account, its missing permissions, and `svc channels setup discord`.

/**
 * One line for a person. Throws CHANNEL_UNAUTHORIZED, REMOTE_*.
 * https://docs.discord.com/developers/resources/user#get-current-user
 */
async function accountLine(rest: Rest, signal: AbortSignal): Promise<string> {
  const user = fieldsOf(await rest.call({ path: "users/@me" }, signal).catch(asCheckFailure));
  if (idOf(user["id"]) === undefined) throw unreadableAccount();
  const application = await ownApplication(rest, signal);
  const servers = numberOf(application["approximate_guild_count"]) ?? (await serverCount(rest, signal));
  const blind = mayRead(application) ? "" : `; ${INTENT_IS_OFF}`;
  return `${tagOf(user)}, in ${servers} ${servers === 1 ? "guild" : "guilds"}${blind}`;
}

/** https://docs.discord.com/developers/resources/application#get-current-application */
async function ownApplication(rest: Rest, signal: AbortSignal): Promise<Fields> {
  return fieldsOf(await rest.call({ path: "applications/@me" }, signal).catch(asCheckFailure));
}

/** Bots still have the four digits behind the name. */
function tagOf({ username, discriminator }: Fields): string {
  const name = oneLine(wordOf(username)) ?? "a bot without a name";
  const digits = wordOf(discriminator);
  return digits !== undefined && /^\d{4}$/.test(digits) && digits !== "0000" ? `${name}#${digits}` : name;
}

const oneLine = (text: string | undefined): string | undefined =>
  text?.replaceAll(/\p{Cc}+/gu, " ").trim() || undefined;

async function serverCount(rest: Rest, signal: AbortSignal): Promise<number> {
  return listOf(await rest.call({ path: "users/@me/guilds", query: { limit: "200" } }, signal).catch(asCheckFailure))
    .length;
}

/** One flag for bots on many servers, one for those on few. Missing flags count as granted. */
function mayRead({ flags }: Fields): boolean {
  const bits = numberOf(flags);
  return bits === undefined || (bits & (MESSAGE_CONTENT | MESSAGE_CONTENT_LIMITED)) !== 0;
}

const MESSAGE_CONTENT = 1 << 18;
const MESSAGE_CONTENT_LIMITED = 1 << 19;

const INTENT_IS_OFF = `its Message Content Intent is off: turn it on at ${PORTAL}, under Bot, Privileged Gateway Intents`;

const unreadableAccount = (): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The platform does not tell who the bot is.", {
    hint: "Check the channel's api_url.",
  });

// `svc channels setup discord`: the bot connects by itself; the operator only has to invite it.

/**
 * The permissions that the bot needs on a server.
 * https://docs.discord.com/developers/topics/permissions#permissions-bitwise-permission-flags
 */
const PERMISSIONS =
  (1n << 6n) | // ADD_REACTIONS
  (1n << 10n) | // VIEW_CHANNEL
  (1n << 11n) | // SEND_MESSAGES
  (1n << 14n) | // EMBED_LINKS
  (1n << 15n) | // ATTACH_FILES
  (1n << 16n) | // READ_MESSAGE_HISTORY
  (1n << 35n) | // CREATE_PUBLIC_THREADS
  (1n << 38n); // SEND_MESSAGES_IN_THREADS

/** Throws CHANNEL_UNAUTHORIZED, REMOTE_*. */
async function setUp(rest: Rest, signal: AbortSignal): Promise<string> {
  const application = await ownApplication(rest, signal);
  const id = idOf(application["id"]);
  if (id === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The platform does not tell the bot's application.");
  const query = new URLSearchParams({
    client_id: id,
    scope: "bot applications.commands",
    permissions: `${PERMISSIONS}`,
  });
  return [
    "Nothing calls this channel from outside: the bot connects to the platform by itself.",
    "To invite it to a server, or to give it the permissions that it lacks there, open:",
    `https://discord.com/oauth2/authorize?${query}`,
    ...(mayRead(application) ? [] : [`To do by hand: ${INTENT_IS_OFF}.`]),
  ].join("\n");
}
