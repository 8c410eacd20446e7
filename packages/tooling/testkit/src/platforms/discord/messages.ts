/** Messages of the bot, and the history. https://docs.discord.com/developers/resources/message */
import type { Json } from "@svc/contract";
import type { InferOutput } from "valibot";
import type { PlatformReply, PlatformRequest } from "../base.ts";
import { channelFor, messageIn } from "./access.ts";
import { bodyOf, parsed, type UploadedFile } from "./body.ts";
import { invalidForm, refusal } from "./errors.ts";
import type { DiscordFiles } from "./files.ts";
import { messageEvent, messageJson } from "./message.ts";
import { CREATE_MESSAGE, EDIT_MESSAGE } from "./schemas.ts";
import type { DiscordChannel, DiscordMessage, DiscordWorld } from "./world.ts";

export interface MessageRoutes {
  create(channelId: string, request: PlatformRequest): Promise<PlatformReply>;
  edit(channelId: string, id: string, request: PlatformRequest): Promise<PlatformReply>;
  get(channelId: string, id: string): PlatformReply;
  list(channelId: string, request: PlatformRequest): PlatformReply;
  /** As the bot, whatever the channel allows; told to the sessions. */
  post(channel: DiscordChannel, said: Said): DiscordMessage;
}

export type Said = Partial<Omit<DiscordMessage, "id" | "channelId" | "atMs">>;

const DIRECT_MESSAGES = 1 << 12;
const GUILD_MESSAGES = 1 << 9;
/** Within which a nonce is known: "the past few minutes". */
const NONCE_MS = 300_000;
const SETTABLE_FLAGS = (1 << 2) | (1 << 12) | (1 << 13) | (1 << 15);
const MIB = 1_048_576;
/** Of one file without boosts, and of a message. */
const FILE_BYTES = 10 * MIB;
const MESSAGE_BYTES = 25 * MIB;

export const intentOf = ({ guildId }: DiscordChannel): number =>
  guildId === undefined ? DIRECT_MESSAGES : GUILD_MESSAGES;

export function messageRoutes(world: DiscordWorld, files: DiscordFiles): MessageRoutes {
  const nonces = new Map<string, DiscordMessage>();

  function post(channel: DiscordChannel, said: Said): DiscordMessage {
    const message: DiscordMessage = {
      authorId: world.bot.id,
      type: 0,
      content: "",
      flags: 0,
      components: [],
      attachments: [],
      embeds: [],
      reactions: new Map(),
      more: {},
      ...said,
      id: world.newId(),
      channelId: channel.id,
      atMs: world.nowMs,
    };
    channel.messages.set(message.id, message);
    world.tell({ type: "MESSAGE_CREATE", data: messageEvent(world, message), intent: intentOf(channel) });
    return message;
  }

  function checkPlace(channel: DiscordChannel): void {
    if (channel.type === 15) throw refusal("noTextChannel");
    if (channel.isLocked === true) throw refusal("locked");
    if (world.users.get(channel.recipientId ?? "")?.takesMessages === false) throw refusal("cannotMessageUser");
  }

  function referenceOf(
    channel: DiscordChannel,
    reference: InferOutput<typeof CREATE_MESSAGE>["message_reference"],
  ): Pick<Said, "reference" | "type"> {
    if (reference === undefined) return {};
    if (channel.denied.has("history")) throw refusal("missingPermissions");
    if (channel.messages.has(reference.message_id)) return { reference: reference.message_id, type: 19 };
    if (reference.fail_if_not_exists === false) return {};
    throw invalidForm(["message_reference"], "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message");
  }

  function storedFiles(channel: DiscordChannel, uploads: readonly UploadedFile[], attachments: unknown): Json[] {
    const named = Array.isArray(attachments) ? (attachments as { id: unknown; filename?: string }[]) : undefined;
    const sizes = uploads.map(({ bytes }) => bytes.length);
    if (sizes.some((size) => size > FILE_BYTES) || sizes.reduce((sum, size) => sum + size, 0) > MESSAGE_BYTES) {
      throw refusal("tooLarge");
    }
    if (uploads.length > 10) throw invalidForm(["files"], "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.");
    if (named?.some(({ id }) => !uploads.some(({ index }) => index === String(id))) === true) {
      throw invalidForm(["attachments"], "ATTACHMENT_NOT_FOUND", "Attachment data not found");
    }
    return uploads.map(({ index, name, type, bytes }) => {
      const filename = named?.find(({ id }) => String(id) === index)?.filename ?? name;
      return files.attach(channel.id, { bytes, filename, contentType: type });
    });
  }

  return {
    post,
    async create(channelId, request) {
      const { json, files: uploads } = await bodyOf(request);
      const channel = channelFor(world, channelId, "send");
      const { content, components, ...body } = parsed(CREATE_MESSAGE, json);
      checkPlace(channel);
      const isEmpty = (content ?? "").trim() === "" && uploads.length === 0 && (components ?? []).length === 0;
      if (isEmpty) throw refusal("emptyMessage");
      const key = `${channelId} ${String(body.nonce)}`;
      const same = nonces.get(key);
      const isKnown = body.enforce_nonce === true && body.nonce !== undefined && same !== undefined;
      if (isKnown && same.atMs + NONCE_MS > world.nowMs) return { json: messageJson(world, same) };
      const message = post(channel, {
        content: (content ?? "").trim(),
        components: (components ?? []) as unknown as Json[],
        flags: (body.flags ?? 0) & SETTABLE_FLAGS,
        attachments: storedFiles(channel, uploads, body.attachments),
        ...(body.nonce !== undefined && { nonce: body.nonce }),
        ...referenceOf(channel, body.message_reference),
      });
      if (body.nonce !== undefined) nonces.set(key, message);
      return { json: messageJson(world, message) };
    },
    async edit(channelId, id, request) {
      const { json } = await bodyOf(request);
      const channel = channelFor(world, channelId);
      const message = messageIn(channel, id);
      if (message.authorId !== world.bot.id) throw refusal("foreignMessage");
      edited(world, message, parsed(EDIT_MESSAGE, json));
      world.tell({ type: "MESSAGE_UPDATE", data: messageEvent(world, message), intent: intentOf(channel) });
      return { json: messageJson(world, message) };
    },
    get(channelId, id) {
      return { json: messageJson(world, messageIn(channelFor(world, channelId, "history"), id)) };
    },
    list(channelId, { query }) {
      const channel = channelFor(world, channelId);
      // Without it there is nothing to see, and no error.
      if (channel.denied.has("history")) return { json: [] };
      return { json: pageOf(channel, query).map((message) => messageJson(world, message)) };
    },
  };
}

/** Throws 50006 for one that would be empty. */
export function edited(world: DiscordWorld, message: DiscordMessage, change: InferOutput<typeof EDIT_MESSAGE>): void {
  const { content, components, flags } = change;
  const next = content === undefined ? message.content : (content ?? "").trim();
  const rows = components === undefined ? message.components : ((components ?? []) as unknown as Json[]);
  if (next === "" && rows.length === 0 && message.attachments.length === 0) throw refusal("emptyMessage");
  message.content = next;
  message.components = rows;
  if (typeof flags === "number") message.flags = flags & SETTABLE_FLAGS;
  message.editedAtMs = world.nowMs;
}

/** https://docs.discord.com/developers/resources/message#get-channel-messages */
function pageOf({ messages }: DiscordChannel, query: URLSearchParams): DiscordMessage[] {
  const limit = Number(query.get("limit") ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw invalidForm(["limit"], "NUMBER_TYPE_MAX", "int value should be between 1 and 100.");
  }
  for (const key of query.keys()) {
    if (!["limit", "after", "before"].includes(key)) throw invalidForm([key], "UNKNOWN_FIELD", "Unknown field");
  }
  const [after, before] = [query.get("after"), query.get("before")];
  for (const id of [after, before]) {
    if (id !== null && !/^\d{1,20}$/.test(id)) throw invalidForm(["after"], "NUMBER_TYPE_COERCE", "Not a snowflake.");
  }
  const all = [...messages.values()];
  const fitting = all.filter(
    ({ id }) => (after === null || BigInt(id) > BigInt(after)) && (before === null || BigInt(id) < BigInt(before)),
  );
  // With `after` the page is the one that follows it; newest first all the same.
  return (after === null ? fitting.slice(-limit) : fitting.slice(0, limit)).toReversed();
}
