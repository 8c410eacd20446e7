/**
 * What the platform tells, by either way: messages that people write, and presses on buttons of cards.
 * https://open.larksuite.com/document/server-docs/im-v1/message/events/receive,
 * https://open.larksuite.com/document/feishu-cards/card-callback-communication
 */
import type { Conversation, Inbound, InboundMedia, Json, MediaKind, StateStore } from "@svc/contract";
import { type Fields, fieldsOf, listOf, parseJson, textOf, wordOf } from "@svc/kit";
import { choiceOf } from "./cards.ts";
import { chatId, fileKey, messageId, personId, timeOf } from "./ids.ts";
import type { Languages } from "./language.ts";

export interface Reader {
  /** Id of the channel. */
  readonly channel: string;
  readonly appId: string;
  readonly mentionOnly: boolean;
  /** Open ID of the bot; undefined until the platform has told it. */
  readonly bot: () => string | undefined;
  readonly questions: Pick<Questions, "has">;
  readonly languages: Pick<Languages, "heard">;
  /** Whether this sender is heard. Logs those who are not. */
  readonly isAllowed: (openId: string) => boolean;
}

/** Accepts any JSON: undefined for an unknown shape, or for an event that is not for the agent. */
export function inboundOf(payload: Json, reader: Reader): Inbound | undefined {
  const { header, event } = fieldsOf(payload);
  const { event_type: type, app_id: app, event_id: id } = fieldsOf(header);
  // Of another app, whose people are others.
  if (app !== reader.appId) return undefined;
  if (type === "im.message.receive_v1") return messageOf(fieldsOf(event), reader);
  if (type === "card.action.trigger") return pressOf(fieldsOf(event), fieldsOf(header), wordOf(id), reader);
  return undefined;
}

function messageOf({ sender, message }: Fields, reader: Reader): Inbound | undefined {
  const { sender_type: kind, sender_id: ids } = fieldsOf(sender);
  const from = personId(fieldsOf(ids)["open_id"]);
  const fields = fieldsOf(message);
  const [id, chat] = [messageId(fields["message_id"]), chatId(fields["chat_id"])];
  // Bots would answer each other for ever.
  if (kind !== "user" || from === undefined || id === undefined || chat === undefined) return undefined;
  const isGroup = fields["chat_type"] !== "p2p";
  const [parent, root] = [messageId(fields["parent_id"]), messageId(fields["root_id"])];
  const mentions = mentionsOf(fields["mentions"]);
  const isMeant = !isGroup || !reader.mentionOnly || isMentioned(mentions, reader) || isAnswer([parent, root], reader);
  if (!isMeant || from === reader.bot() || !reader.isAllowed(from)) return undefined;
  const content = contentOf(fields, id, mentions);
  if (content === undefined) return undefined;
  const text = withoutMention(content.text, mentions, reader);
  if (text.trim() === "") return undefined;
  reader.languages.heard(id, from, text);
  // The first message of a thread has no root; every message of a thread has the thread's id.
  const thread = wordOf(fields["thread_id"]) === undefined ? undefined : (root ?? id);
  const sentAtMs = timeOf(fields["create_time"]);
  return {
    id,
    conversation: placeOf(reader.channel, chat, thread),
    sender: from,
    ...(isGroup && { group: true, replyData: { messageId: id } }),
    text,
    ...(content.media.length > 0 && { media: content.media }),
    ...(parent !== undefined && parent !== thread && { repliesTo: parent }),
    ...(content.isSecondHand && { secondHand: true }),
    ...(sentAtMs !== undefined && { sentAtMs }),
  };
}

export const placeOf = (channel: string, id: string, thread: string | undefined): Conversation => ({
  channel,
  id,
  ...(thread !== undefined && { thread }),
});

/** While the platform has not told who the bot is, any bot may be meant. */
function isMentioned(mentions: readonly Mention[], { bot }: Reader): boolean {
  const own = bot();
  return mentions.some(({ openId, isBot }) => (own === undefined ? isBot : openId === own));
}

const isAnswer = (to: readonly (string | undefined)[], { questions }: Reader): boolean =>
  to.some((id) => id !== undefined && questions.has(id));

/** A mention of the bot at the beginning only says who is meant. */
function withoutMention(text: string, mentions: readonly Mention[], { bot }: Reader): string {
  const own = mentions.find(({ openId, isBot }) => (bot() === undefined ? isBot : openId === bot()));
  if (own === undefined || !text.trimStart().startsWith(`@${own.name}`)) return text;
  const rest = text
    .trimStart()
    .slice(own.name.length + 1)
    .trimStart();
  // Someone who only calls the bot wants something of it.
  return rest === "" ? text : rest;
}

function pressOf(event: Fields, header: Fields, id: string | undefined, reader: Reader): Inbound | undefined {
  const sender = personId(fieldsOf(event["operator"])["open_id"]);
  const context = fieldsOf(event["context"]);
  const [chat, message] = [chatId(context["open_chat_id"]), messageId(context["open_message_id"])];
  const pressed = choiceOf(fieldsOf(event["action"])["value"]);
  if (sender === undefined || chat === undefined || message === undefined || pressed === undefined) return undefined;
  if (!reader.isAllowed(sender)) return undefined;
  const sentAtMs = timeOf(header["create_time"]);
  return {
    ...(id !== undefined && { id: `press:${id}` }),
    conversation: placeOf(reader.channel, chat, pressed.thread),
    sender,
    text: pressed.label,
    choice: pressed.choice,
    ...(sentAtMs !== undefined && { sentAtMs }),
  };
}

/** Questions of ours in groups, by their message ids: a reply to one is meant for the bot, although it may not mention it. */
export interface Questions {
  has(id: string): boolean;
  /** Resolves once it is on disk, or can't be put there: it is known at least as long as this process lives. */
  add(id: string): Promise<void>;
  load(): Promise<void>;
}

const MOST = 500;
const NAME = "questions";

export function questionsIn(state: StateStore): Questions {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    async add(id) {
      ids.add(id);
      for (const oldest of ids) if (ids.size > MOST) ids.delete(oldest);
      await state.set(NAME, JSON.stringify([...ids])).catch(() => undefined);
    },
    async load() {
      // A command without a store registers the channel too.
      const text = await state.get(NAME).catch(() => undefined);
      for (const id of text === undefined ? [] : listOf(parseJson(Buffer.from(text)))) {
        const known = messageId(id);
        if (known !== undefined) ids.add(known);
      }
    },
  };
}

// The content of a message of any type, as text and files.
// https://open.larksuite.com/document/server-docs/im-v1/message-content-description/message_content

interface Content {
  readonly text: string;
  readonly media: readonly InboundMedia[];
  /** The words are those of others: a forwarded conversation, a card of another program. */
  readonly isSecondHand: boolean;
}

/** Whom a message names, by the placeholder in its text (`@_user_1`). */
interface Mention {
  readonly key: string;
  readonly openId: string | undefined;
  readonly name: string;
  readonly isBot: boolean;
}

/** Undefined for a type that says nothing to an agent, such as a note of the platform's own. */
function contentOf(message: Fields, id: string, mentions: readonly Mention[]): Content | undefined {
  const type = wordOf(message["message_type"]) ?? "";
  const content = fieldsOf(parseJson(Buffer.from(textOf(message["content"]) ?? "")));
  const read = Object.hasOwn(CONTENT_READERS, type) ? CONTENT_READERS[type] : undefined;
  return read?.(content, { id, mentions });
}

interface Around {
  readonly id: string;
  readonly mentions: readonly Mention[];
}

type ContentReader = (content: Fields, around: Around) => Content | undefined;

const said = (text: string, media: readonly InboundMedia[] = [], isSecondHand = false): Content => ({
  text,
  media,
  isSecondHand,
});
const forwarded = (text: string): Content => said(text, [], true);

/** One file and nothing else; where its key is unusable, words that say so. */
const oneFile =
  (kind: MediaKind, key: string): ContentReader =>
  (content, { id }) => {
    const media = mediaOf(id, kind, content[key], wordOf(content["file_name"]));
    return media === undefined ? said(`[${kind}]`) : said(media.placeholder, [media]);
  };

const CONTENT_READERS: Readonly<Record<string, ContentReader>> = {
  text: ({ text }, { mentions }) => said(withNames(textOf(text) ?? "", mentions)),
  post: (content, around) => postOf(content, around),
  image: oneFile("image", "image_key"),
  file: oneFile("document", "file_key"),
  folder: ({ file_name: name }) => said(`[a folder: ${shown(name) || "without a name"}]`),
  audio: oneFile("audio", "file_key"),
  media: oneFile("video", "file_key"),
  // The platform hands out no file of one.
  sticker: () => said("[sticker]"),
  interactive: (content) => forwarded(cardWords(content)),
  merge_forward: () => forwarded("[a forwarded conversation, whose messages the platform does not tell]"),
  share_chat: () => forwarded("[a shared group]"),
  share_user: () => forwarded("[a shared contact]"),
  location: ({ name, latitude, longitude }) =>
    said(`[location: ${[shown(name), shown(latitude), shown(longitude)].filter((part) => part !== "").join(", ")}]`),
  vote: ({ topic, options }) =>
    forwarded(`[poll: ${[shown(topic), ...listOf(options).map(shown)].filter((part) => part !== "").join("; ")}]`),
  todo: (content) => forwarded(`[task: ${postText(fieldsOf(content["summary"])) || "without words"}]`),
  calendar: ({ summary }) => forwarded(`[event: ${shown(summary)}]`),
  share_calendar_event: ({ summary }) => forwarded(`[event: ${shown(summary)}]`),
  general_calendar: ({ summary }) => forwarded(`[event: ${shown(summary)}]`),
  video_chat: ({ topic }) => forwarded(`[meeting: ${shown(topic)}]`),
};

/** On one line. */
const shown = (value: unknown): string =>
  (textOf(value) ?? "")
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(0, 512);

function mediaOf(
  message: string,
  kind: MediaKind,
  key: unknown,
  fileName: string | undefined,
): InboundMedia | undefined {
  const found = fileKey(key);
  if (found === undefined) return undefined;
  const name = shown(fileName);
  // A resource is fetched by the message that it is in; images are of a type of their own.
  return {
    kind,
    ref: `${message}/${kind === "image" ? "image" : "file"}/${found}`,
    placeholder: `[${kind}${name === "" ? "" : `: ${name}`}]`,
    ...(name !== "" && { fileName: name }),
    ...(kind === "audio" && { mimeType: "audio/ogg" }),
  };
}

/** `@_user_1` and the like as names; `@_all` as it is called. One pass: a name may look like a placeholder. */
export const withNames = (text: string, mentions: readonly Mention[]): string =>
  text.replaceAll(/@_(?:user_\d{1,6}|all)\b/g, (key) => {
    if (key === "@_all") return "@all";
    const mention = mentions.find((one) => one.key === key);
    return mention === undefined ? key : `@${mention.name}`;
  });

function mentionsOf(list: unknown): Mention[] {
  return listOf(list)
    .slice(0, MOST_MENTIONS)
    .map(fieldsOf)
    .flatMap((mention) => {
      const key = wordOf(mention["key"]);
      const id = fieldsOf(mention["id"]);
      if (key === undefined) return [];
      return [
        {
          key,
          openId: personId(id["open_id"]) ?? personId(mention["id"]),
          name: shown(mention["name"]) || "someone",
          isBot: mention["mentioned_type"] === "bot",
        },
      ];
    });
}

const MOST_MENTIONS = 200;

/** Rich text: lines of elements, in some clients below the name of a language. */
function postOf(content: Fields, { id, mentions }: Around): Content | undefined {
  const post = inLanguage(content);
  const media: InboundMedia[] = [];
  const lines = listOf(post["content"])
    .slice(0, MOST_LINES)
    .map((line) =>
      listOf(line)
        .slice(0, MOST_ELEMENTS)
        .map((element) => elementText(fieldsOf(element), { id, mentions }, media))
        .join(""),
    );
  const title = textOf(post["title"]);
  const text = [...(title === undefined ? [] : [title]), ...lines].join("\n").trim();
  return text === "" ? undefined : said(text, media);
}

const MOST_LINES = 1_000;
const MOST_ELEMENTS = 200;

function inLanguage(content: Fields): Fields {
  if (Array.isArray(content["content"])) return content;
  const found = Object.values(content)
    .map(fieldsOf)
    .find((one) => Array.isArray(one["content"]));
  return found ?? content;
}

const postText = (content: Fields): string => postOf(content, { id: "", mentions: [] })?.text ?? "";

function elementText(element: Fields, { id, mentions }: Around, media: InboundMedia[]): string {
  const text = textOf(element["text"]) ?? "";
  switch (element["tag"]) {
    case "text":
    case "md":
      return withNames(text, mentions);
    case "a": {
      const href = textOf(element["href"]) ?? "";
      return href === "" || href === text ? text : text === "" ? href : `${text} (${href})`;
    }
    case "at": {
      const key = wordOf(element["user_id"]) ?? "";
      if (key === "@_all" || key === "all") return "@all";
      const known = mentions.find((mention) => mention.key === key);
      return `@${known?.name ?? (shown(element["user_name"]) || "someone")}`;
    }
    case "code_block":
      return `\n\`\`\`\n${text}\n\`\`\`\n`;
    case "hr":
      return "\n---\n";
    case "emotion":
      return `:${wordOf(element["emoji_type"]) ?? "emoji"}:`;
    case "img":
    case "media": {
      const isImage = element["tag"] === "img";
      const key = isImage ? element["image_key"] : element["file_key"];
      const file = media.length < MOST_FILES ? mediaOf(id, isImage ? "image" : "video", key, undefined) : undefined;
      if (file !== undefined) media.push(file);
      return file?.placeholder ?? (isImage ? "[image]" : "[video]");
    }
    default:
      return text;
  }
}

const MOST_FILES = 20;

/** What a card says, as far as the platform tells. */
function cardWords(content: Fields): string {
  const lines = listOf(content["elements"])
    .slice(0, MOST_LINES)
    .map((line) =>
      (Array.isArray(line) ? line : [line])
        .slice(0, MOST_ELEMENTS)
        .map((element) => textOf(fieldsOf(element)["text"]) ?? "")
        .join(""),
    );
  const words = [textOf(content["title"]) ?? "", ...lines].join("\n").trim();
  return words === "" ? "[a card]" : `[a card]\n${words}`;
}
