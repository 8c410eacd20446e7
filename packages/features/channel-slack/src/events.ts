/** What the platform hands over (an event, a press on a button, a command), as messages of the service. */
import {
  type Conversation,
  type FeatureContext,
  type Inbound,
  type InboundMedia,
  type Json,
  type MediaKind,
  SvcError,
} from "@svc/contract";
import type { Self } from "./account.ts";
import type { Config } from "./config.ts";
import { unescaped } from "./markdown.ts";
import {
  CHANNEL,
  type Fields,
  type MessageRef,
  choiceOf,
  conversationId,
  fieldsOf,
  fileId,
  listOf,
  messageIdOf,
  messageRefOf,
  msOf,
  textOf,
  timestamp,
  userId,
  wordOf,
} from "./protocol.ts";
import type { WebApi } from "./web-api.ts";

/** Accepts any JSON: undefined for an unknown shape, or for an event that is not for the agent. */
export function inboundOf(payload: Json, reading: ReadingDeps): Inbound | undefined {
  const fields = fieldsOf(payload);
  if (fields["type"] === "event_callback") return eventOf(fields, reading);
  if (fields["type"] === "block_actions") return pressOf(fields, reading);
  return typeof fields["command"] === "string" ? commandOf(fields, reading) : undefined;
}

function eventOf(wrapper: Fields, reading: ReadingDeps): Inbound | undefined {
  const event = fieldsOf(wrapper["event"]);
  const bot = botIn(wrapper) ?? reading.self.userId;
  switch (event["type"]) {
    case "message":
    case "app_mention":
      return messageOf(event, bot, reading);
    case "reaction_added":
    case "reaction_removed":
      return reactionOf(event, bot, reading);
    default:
      return undefined;
  }
}

/** Whom the event is for. */
function botIn(wrapper: Fields): string | undefined {
  const { is_bot: isBot, user_id: user } = fieldsOf(listOf(wrapper["authorizations"])[0]);
  return isBot === true ? userId(user) : undefined;
}

/** What reading an event takes beside the event. */
export interface ReadingDeps {
  readonly config: Pick<Config, "mention_only" | "thread_replies">;
  /** Who we are there. */
  readonly self: Self;
  readonly people: Pick<People, "nameOf" | "want">;
  readonly threads: Pick<Threads, "has">;
  /** Whether this sender is heard. Tells the log of those who are not. */
  readonly mayWrite: (sender: string) => boolean;
}

// A message, as an event or as history tells it.
// https://docs.slack.dev/reference/events/message, https://docs.slack.dev/reference/events/app_mention

/** Kinds of messages that people write; all others tell of something. */
const WRITTEN: ReadonlySet<unknown> = new Set([undefined, "file_share", "thread_broadcast", "me_message"]);

/** Undefined for what no one wrote to us. `bot`: our user id. */
export function messageOf(event: Fields, bot: string | undefined, reading: ReadingDeps): Inbound | undefined {
  const channel = conversationId(event["channel"]);
  const ts = timestamp(event["ts"]);
  const sender = userId(event["user"]);
  if (channel === undefined || ts === undefined || sender === undefined) return undefined;
  // Ours, and those of other bots, who would answer each other for ever.
  const isWritten = WRITTEN.has(event["subtype"]) && event["bot_id"] === undefined && event["hidden"] !== true;
  if (!isWritten || sender === bot) return undefined;
  const place = placeOf(event, channel, ts, reading);
  if (!isMeant(event, place, bot, reading) || !reading.mayWrite(sender)) return undefined;
  const { text, media } = saidIn(event, bot, reading);
  if (text.trim() === "") return undefined;
  const name = nameOf(event, reading, sender);
  return {
    id: messageIdOf({ channel, ts }),
    conversation: place.conversation,
    sender,
    ...(name !== undefined && { senderName: name }),
    ...(place.kind !== "im" && { group: true }),
    text,
    ...(media.length > 0 && { media }),
    sentAtMs: msOf(ts),
  };
}

interface Place {
  readonly kind: "im" | "mpim" | "channel";
  readonly conversation: Conversation;
  /** The thread that it was written in. */
  readonly thread: string | undefined;
}

function placeOf(event: Fields, channel: string, ts: string, { config }: ReadingDeps): Place {
  const kind = kindOf(event["channel_type"], channel);
  const parent = timestamp(event["thread_ts"]);
  const thread = parent === ts ? undefined : parent;
  const opens = kind === "channel" && config.thread_replies ? ts : undefined;
  return { kind, thread, conversation: conversationIn(channel, thread ?? opens) };
}

const conversationIn = (channel: string, thread: string | undefined): Conversation => ({
  channel: CHANNEL,
  id: channel,
  ...(thread !== undefined && { thread }),
});

/** A mention does not say where it was; those of direct messages are no mentions. */
function kindOf(type: Json | undefined, channel: string): Place["kind"] {
  if (type === "im" || channel.startsWith("D")) return "im";
  return type === "mpim" ? "mpim" : "channel";
}

function isMeant(
  event: Fields,
  { kind, thread, conversation }: Place,
  bot: string | undefined,
  reading: ReadingDeps,
): boolean {
  if (kind !== "channel" || !reading.config.mention_only) return true;
  if (event["type"] === "app_mention" || mentions(textOf(event["text"]) ?? "", bot)) return true;
  if (thread === undefined) return false;
  return (
    (bot !== undefined && event["parent_user_id"] === bot) ||
    reading.threads.has({ channel: conversation.id, ts: thread })
  );
}

function saidIn(
  event: Fields,
  bot: string | undefined,
  { people, self }: ReadingDeps,
): Pick<Inbound, "text"> & Required<Pick<Inbound, "media">> {
  const nameOf = (user: string): string | undefined => (user === bot ? self.name : people.nameOf(user));
  const { media, lines } = filesOf(event["files"]);
  const said = decoded(withoutMention(textOf(event["text"]) ?? "", bot), nameOf);
  const parts = [...lines, said, ...forwarded(event, nameOf)].filter((part) => part.trim() !== "");
  return { text: parts.join("\n"), media };
}

/** Messages that were passed on: what a person wants to be read. */
function forwarded(event: Fields, nameOf: (user: string) => string | undefined): string[] {
  return listOf(event["attachments"])
    .map(fieldsOf)
    .filter(({ is_share: isShare }) => isShare === true)
    .flatMap(({ text, author_name: author }) => {
      const said = decoded(textOf(text) ?? "", nameOf).trim();
      const who = wordOf(author);
      return said === "" ? [] : [`[forwarded${who === undefined ? "" : `, by ${who}`}]\n${said}`];
    });
}

function nameOf({ user_profile: profile }: Fields, { people }: ReadingDeps, sender: string): string | undefined {
  const { display_name: shown, real_name: real } = fieldsOf(profile);
  const known = people.nameOf(sender) ?? wordOf(shown) ?? wordOf(real);
  if (known === undefined) people.want(sender);
  return known;
}

// What someone wrote, as they saw it: mentions and links without the platform's markup.
// https://docs.slack.dev/messaging/formatting-message-text#retrieving-messages

/** `nameOf`: what a person is called, as far as it is known. */
export const decoded = (text: string, nameOf: (user: string) => string | undefined): string =>
  text
    .split(/(<[^<>]*>)/)
    .map((part, at) => (at % 2 === 1 ? tokenText(part.slice(1, -1), nameOf) : unescaped(part)))
    .join("");

function tokenText(token: string, nameOf: (user: string) => string | undefined): string {
  const bar = token.indexOf("|");
  const target = bar === -1 ? token : token.slice(0, bar);
  const label = bar === -1 ? "" : unescaped(token.slice(bar + 1));
  const rest = target.slice(1);
  if (target.startsWith("@")) return `@${nameOf(rest) ?? (label.replace(/^@/, "") || rest)}`;
  if (target.startsWith("#")) return `#${label.replace(/^#/, "") || rest}`;
  if (target.startsWith("!")) return label || `@${rest}`;
  return linkText(unescaped(target), label);
}

/** A link whose label is its own URL appears once. */
function linkText(url: string, label: string): string {
  const short = url.replace(/^(?:https?:\/\/|mailto:|tel:)/, "");
  const isItself = label === "" || [url, short, short.replace(/\/$/, "")].includes(label);
  if (!isItself) return `${label} (${url})`;
  return /^(?:mailto|tel):/.test(url) ? short : url;
}

/** Without a mention of `bot` at the beginning, which only says who is meant. */
export function withoutMention(text: string, bot: string | undefined): string {
  if (bot === undefined) return text;
  const mention = new RegExp(`^\\s*<@${bot}(?:\\|[^<>]*)?>[\\s,:]*`);
  const rest = text.replace(mention, "");
  return rest.trim() === "" ? text : rest;
}

export const mentions = (text: string, bot: string | undefined): boolean =>
  bot !== undefined && new RegExp(`<@${bot}[|>]`).test(text);

/**
 * Files of a message. Each is looked up again when it is fetched: what an event says of it is only a name.
 * https://docs.slack.dev/reference/objects/file-object
 */
export interface MessageFiles {
  readonly media: readonly InboundMedia[];
  /** Placeholders of those that can be fetched, and words for those that can't, in order. */
  readonly lines: readonly string[];
}

/** More than anyone attaches to one message. */
const MOST_FILES = 20;

function filesOf(files: Json | undefined): MessageFiles {
  const read = listOf(files)
    .slice(0, MOST_FILES)
    .map(fieldsOf)
    .flatMap((file) => fileOf(file) ?? []);
  return {
    media: read.flatMap(({ media }) => media ?? []),
    lines: read.map(({ line }) => line),
  };
}

function fileOf(file: Fields): { media?: InboundMedia; line: string } | undefined {
  const ref = fileId(file["id"]);
  if (ref === undefined) return undefined;
  const name = printable(wordOf(file["name"]) ?? wordOf(file["title"]) ?? "");
  // Deleted meanwhile, or beyond what a free workspace shows.
  if (file["mode"] === "tombstone" || file["mode"] === "hidden_by_limit") return { line: "[a file that is gone]" };
  if (file["is_external"] === true) return { line: externalLine(name, file) };
  const mimeType = mimeTypeOf(file["mimetype"]);
  const kind = mediaKindOf(file, mimeType);
  const placeholder = `[${kind}${name === "" ? "" : `: ${name}`}]`;
  const media: InboundMedia = {
    kind,
    ref,
    placeholder,
    ...(mimeType !== undefined && { mimeType }),
    ...(name !== "" && { fileName: name }),
  };
  return { media, line: placeholder };
}

/** It is somewhere else, where our token is nothing. */
function externalLine(name: string, file: Fields): string {
  const url = textOf(file["url_private"]) ?? textOf(file["permalink"]);
  const isLink = url !== undefined && url.length <= 2_000 && /^https?:\/\/[^\s]+$/.test(url);
  return `[a file elsewhere${name === "" ? "" : `: ${name}`}]${isLink ? ` ${url}` : ""}`;
}

function mediaKindOf({ subtype }: Fields, mimeType: string = ""): MediaKind {
  // Recorded in the client; the type of a voice clip may be that of a film.
  if (subtype === "slack_audio") return "audio";
  if (subtype === "slack_video") return "video";
  const [family] = mimeType.split("/", 1);
  return family === "image" || family === "audio" || family === "video" ? family : "document";
}

/** Without parameters. */
export function mimeTypeOf(value: Json | undefined): string | undefined {
  const type = textOf(value)?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type) ? type : undefined;
}

const printable = (name: string): string => name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").trim();

// https://docs.slack.dev/reference/interaction-payloads/block_actions-payload

/** Undefined for a press on anything but a button of a question of ours. */
function pressOf(payload: Fields, { config, mayWrite }: ReadingDeps): Inbound | undefined {
  const action = fieldsOf(listOf(payload["actions"])[0]);
  const message = fieldsOf(payload["message"]);
  const container = fieldsOf(payload["container"]);
  const choice = choiceOf(action["value"]);
  const label = wordOf(fieldsOf(action["text"])["text"]);
  const sender = userId(fieldsOf(payload["user"])["id"]);
  const channel = conversationId(fieldsOf(payload["channel"])["id"]) ?? conversationId(container["channel_id"]);
  const ts = timestamp(message["ts"]) ?? timestamp(container["message_ts"]);
  if (choice === undefined || label === undefined || sender === undefined) return undefined;
  if (channel === undefined || ts === undefined || !mayWrite(sender)) return undefined;
  const parent = timestamp(message["thread_ts"]) ?? timestamp(container["thread_ts"]);
  // A question in a channel has opened a thread.
  const opened = config.thread_replies && !channel.startsWith("D") ? ts : undefined;
  const atTs = timestamp(action["action_ts"]);
  return {
    ...(atTs !== undefined && { id: `press:${messageIdOf({ channel, ts })}:${sender}:${atTs}` }),
    conversation: conversationIn(channel, parent ?? opened),
    sender,
    text: label,
    choice,
    ...(atTs !== undefined && { sentAtMs: msOf(atTs) }),
  };
}

// https://docs.slack.dev/reference/events/reaction_added, https://docs.slack.dev/reference/events/reaction_removed

/** Taken back, it comes without the emoji. */
function reactionOf(event: Fields, bot: string | undefined, { mayWrite }: ReadingDeps): Inbound | undefined {
  const item = fieldsOf(event["item"]);
  const channel = conversationId(item["channel"]);
  const ts = timestamp(item["ts"]);
  const sender = userId(event["user"]);
  const atTs = timestamp(event["event_ts"]);
  const emoji = wordOf(event["reaction"]);
  if (channel === undefined || ts === undefined || sender === undefined || emoji === undefined) return undefined;
  if (item["type"] !== "message" || sender === bot || !mayWrite(sender)) return undefined;
  const what = `${messageIdOf({ channel, ts })}:${sender}:${emoji}`;
  return {
    kind: "reaction",
    // Given, taken back and given again are three.
    ...(atTs !== undefined && { id: `${String(event["type"])}:${what}:${atTs}` }),
    conversation: conversationIn(channel, undefined),
    sender,
    text: event["type"] === "reaction_removed" ? "" : `:${emoji}:`,
    ...(atTs !== undefined && { sentAtMs: msOf(atTs) }),
  };
}

// https://docs.slack.dev/interactivity/implementing-slash-commands

/** What every channel of ours knows as `/new` and the like. */
const COMMANDS: ReadonlySet<string> = new Set(["new", "model", "status", "help", "stop"]);

/**
 * `/svc new` and `/new` both mean `/new`, under any name of the app's command; other text after it is a message. Without text
 * it asks for help.
 */
function commandOf(fields: Fields, { people, mayWrite }: ReadingDeps): Inbound | undefined {
  const name = wordOf(fields["command"])?.replace(/^\//, "").toLowerCase();
  const sender = userId(fields["user_id"]);
  const channel = conversationId(fields["channel_id"]);
  const trigger = wordOf(fields["trigger_id"]);
  if (name === undefined || sender === undefined || channel === undefined || !mayWrite(sender)) return undefined;
  const said = decoded(textOf(fields["text"]) ?? "", people.nameOf).trim();
  const known = people.nameOf(sender) ?? wordOf(fields["user_name"]);
  return {
    // The platform does not number commands; each has its own trigger id.
    ...(trigger !== undefined && { id: `command:${trigger}` }),
    conversation: conversationIn(channel, undefined),
    sender,
    ...(known !== undefined && { senderName: known }),
    ...(!channel.startsWith("D") && { group: true }),
    text: textFor(name, said),
  };
}

function textFor(name: string, said: string): string {
  if (COMMANDS.has(name)) return said === "" ? `/${name}` : `/${name} ${said}`;
  if (said === "") return "/help";
  const [first = ""] = said.split(/\s/, 1);
  return COMMANDS.has(first.toLowerCase().replace(/^\//, "")) ? `/${said.replace(/^\//, "")}` : said;
}

/** Threads that the bot takes part in: there it is spoken to without being mentioned. Kept over restarts. */
export interface Threads {
  has(thread: MessageRef): boolean;
  add(thread: MessageRef): void;
  /** Those of one conversation, the latest first. */
  in(channel: string): readonly string[];
  /** Loads the stored threads. */
  load(): Promise<void>;
}

/** A thread that so many others came after is over. */
const MOST = 1_000;
const NAME = "threads";

export function threadsIn({ state, log }: Pick<FeatureContext, "state" | "log">): Threads {
  let all: ReadonlySet<string> = new Set();
  let writing: Promise<void> | undefined;
  let isStale = false;

  /** One write at a time, with the latest content: many threads are added while one write goes to disk. */
  const keep = (): void => {
    isStale = true;
    writing ??= (async () => {
      while (isStale) {
        isStale = false;
        await state.set(NAME, [...all].join("\n"));
      }
    })()
      .catch(() => log.warn("which threads the bot takes part in could not be kept"))
      .finally(() => (writing = undefined));
  };

  return {
    has: (thread) => all.has(messageIdOf(thread)),
    add(thread) {
      const id = messageIdOf(thread);
      const wasLast = [...all].at(-1) === id;
      if (wasLast) return;
      all = new Set([...[...all].filter((other) => other !== id), id].slice(-MOST));
      keep();
    },
    in: (channel) =>
      [...all]
        .toReversed()
        .flatMap((id) => messageRefOf(id) ?? [])
        .filter((thread) => thread.channel === channel)
        .map(({ ts }) => ts),
    async load() {
      const stored = (await state.get(NAME)) ?? "";
      all = new Set([...stored.split("\n").filter((id) => messageRefOf(id) !== undefined), ...all].slice(-MOST));
    },
  };
}

/** What people are called. No message waits for it: who is not known yet is by the next one. */
export interface People {
  nameOf(user: string): string | undefined;
  /** Has the name looked up, when there is time. */
  want(user: string): void;
  /** Looks up who is wanted, until `signal` ends it. Never rejects for a name that can't be had. */
  run(signal: AbortSignal): Promise<void>;
}

/** Only people who write are cached, in a workspace of any size. */
const MOST_KNOWN = 5_000;
const MOST_WANTED = 100;
/** A hundred a minute are allowed. https://docs.slack.dev/reference/methods/users.info */
const PAUSE_MS = 700;

export function peopleOf(api: WebApi, { clock, log }: Pick<FeatureContext, "clock" | "log">): People {
  const names = new Map<string, string>();
  const wanted = new Set<string>();
  let wake = (): void => undefined;

  const remember = (user: string, name: string): void => {
    names.set(user, name);
    for (const oldest of names.keys()) if (names.size > MOST_KNOWN) names.delete(oldest);
  };

  async function lookUp(user: string, signal: AbortSignal): Promise<void> {
    try {
      const { profile, real_name: real, name } = fieldsOf((await api.call("users.info", { user }, signal))["user"]);
      const { display_name: shown, real_name: full } = fieldsOf(profile);
      const found = wordOf(shown) ?? wordOf(full) ?? wordOf(real) ?? wordOf(name);
      if (found !== undefined) remember(user, found);
    } catch (error) {
      signal.throwIfAborted();
      const { code = "unknown", retryAfterMs = 0 } = error instanceof SvcError ? error : {};
      log.debug("a name could not be looked up", { reason: code });
      await clock.sleep(retryAfterMs, signal);
    }
  }

  return {
    nameOf: (user) => names.get(user),
    want(user) {
      if (wanted.size >= MOST_WANTED) return;
      wanted.add(user);
      wake();
    },
    async run(signal) {
      while (!signal.aborted) {
        const [user] = wanted;
        if (user === undefined) {
          await wokenOr(signal, (woken) => (wake = woken));
          continue;
        }
        wanted.delete(user);
        if (names.has(user)) continue;
        await lookUp(user, signal);
        await clock.sleep(PAUSE_MS, signal);
      }
    },
  };
}

function wokenOr(signal: AbortSignal, hand: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
    hand(end);
  });
}
