/**
 * Commands and presses, as people make them, and how the bot answers.
 * https://docs.discord.com/developers/interactions/receiving-and-responding
 */
import type { Json } from "@svc/contract";
import type { InferOutput } from "valibot";
import type { PlatformReply, PlatformRequest } from "../base.ts";
import { bodyOf, parsed } from "./body.ts";
import { refusal } from "./errors.ts";
import { messageEvent, messageJson } from "./message.ts";
import { edited, intentOf, type MessageRoutes } from "./messages.ts";
import { CALLBACK, EDIT_MESSAGE } from "./schemas.ts";
import { channelJson, type DiscordMessage, type DiscordWorld, memberJson, userJson } from "./world.ts";

/** What a person did, and what they were shown. */
export interface DiscordInteraction {
  readonly id: string;
  readonly token: string;
  readonly channelId: string;
  readonly userId: string;
  readonly atMs: number;
  /** Of the button's message. */
  readonly message?: DiscordMessage;
  /** Type of the first answer. */
  answeredBy?: number;
  /** What nobody else sees. */
  ephemeral?: string;
  /** `@original`. */
  response?: DiscordMessage;
}

export interface DiscordInteractions {
  readonly all: readonly DiscordInteraction[];
  /** A person uses a command of the menu. */
  command(by: { userId: string; channelId: string; name: string; value?: string }): DiscordInteraction;
  /** A person presses a button. */
  press(by: { userId: string; message: DiscordMessage; customId: string }): DiscordInteraction;
  callback(id: string, token: string, request: PlatformRequest): Promise<PlatformReply>;
  editOriginal(applicationId: string, token: string, request: PlatformRequest): Promise<PlatformReply>;
  followUp(applicationId: string, token: string, request: PlatformRequest): Promise<PlatformReply>;
}

const FIRST_ANSWER_MS = 3_000;
const TOKEN_MS = 900_000;
const EPHEMERAL = 1 << 6;

export function discordInteractions(world: DiscordWorld, messages: MessageRoutes): DiscordInteractions {
  const all: DiscordInteraction[] = [];

  function begin(
    kind: { type: number; data: Json; message?: DiscordMessage },
    { userId, channelId }: { userId: string; channelId: string },
  ): DiscordInteraction {
    const { message } = kind;
    const id = world.newId();
    const token = `aW50ZXJhY3Rpb24-${id}-${"x".repeat(40)}`;
    const interaction = { id, token, channelId, userId, atMs: world.nowMs, ...(message && { message }) };
    all.push(interaction);
    const { guildId } = world.channels.get(channelId)!;
    const user = userJson(world.users.get(userId)!);
    const member = guildId && { ...memberJson(world, guildId, userId), user, permissions: "0" };
    const data: Record<string, Json> = {
      id,
      application_id: world.applicationId,
      type: kind.type,
      data: kind.data,
      channel_id: channelId,
      channel: channelJson(world, world.channels.get(channelId)!),
      token,
      version: 1,
      app_permissions: "0",
      locale: "en-US",
      entitlements: [],
      authorizing_integration_owners: {},
      attachment_size_limit: 10_485_760,
      ...(member ? { guild_id: guildId as string, guild_locale: "en-US", member } : { user }),
      ...(message && { message: messageJson(world, message) }),
    };
    // Always told, whatever was asked for.
    world.tell({ type: "INTERACTION_CREATE", data, intent: 0 });
    return interaction;
  }

  function answerable(applicationId: string, token: string): DiscordInteraction {
    const interaction = all.find((one) => one.token === token);
    if (applicationId !== world.applicationId || interaction?.answeredBy === undefined) throw refusal("unknownWebhook");
    if (interaction.atMs + TOKEN_MS < world.nowMs) throw refusal("invalidWebhookToken");
    return interaction;
  }

  /** A new message in answer to it; of one that only the person sees there is nothing to be found. */
  function answer(interaction: DiscordInteraction, said: InferOutput<typeof EDIT_MESSAGE>): DiscordMessage {
    const channel = world.channels.get(interaction.channelId)!;
    const content = (said.content ?? "").trim();
    if (content === "") throw refusal("emptyMessage");
    const message = messages.post(channel, { content, type: 20, flags: said.flags ?? 0 });
    if (((said.flags ?? 0) & EPHEMERAL) !== 0) {
      channel.messages.delete(message.id);
      interaction.ephemeral = content;
    }
    return message;
  }

  return {
    all,
    command: ({ name, value, ...by }) => {
      const options = value === undefined ? [] : [{ type: 3, name: "name", value }];
      return begin({ type: 2, data: { id: world.newId(), name, type: 1, options } }, by);
    },
    press: ({ userId, message, customId }) =>
      begin(
        { type: 3, data: { custom_id: customId, component_type: 2 }, message },
        { userId, channelId: message.channelId },
      ),
    async callback(id, token, request) {
      const interaction = all.find((one) => one.id === id && one.token === token);
      const body = parsed(CALLBACK, (await bodyOf(request)).json);
      if (interaction === undefined || interaction.atMs + FIRST_ANSWER_MS < world.nowMs)
        throw refusal("unknownInteraction");
      if (interaction.answeredBy !== undefined) throw refusal("alreadyAcknowledged");
      const isPress = interaction.message !== undefined;
      if (!isPress && (body.type === 6 || body.type === 7)) throw refusal("wrongChannelType");
      interaction.answeredBy = body.type;
      if (body.type === 4) interaction.response = answer(interaction, body.data);
      if (isPress && (body.type === 6 || body.type === 7)) interaction.response = interaction.message;
      if (body.type === 7) edited(world, interaction.message!, body.data);
      return { status: 204 };
    },
    async editOriginal(applicationId, token, request) {
      const interaction = answerable(applicationId, token);
      const { json } = await bodyOf(request);
      const change = parsed(EDIT_MESSAGE, json);
      if (interaction.response === undefined) interaction.response = answer(interaction, change);
      else edited(world, interaction.response, change);
      const channel = world.channels.get(interaction.channelId)!;
      world.tell({
        type: "MESSAGE_UPDATE",
        data: messageEvent(world, interaction.response),
        intent: intentOf(channel),
      });
      return { json: messageJson(world, interaction.response) };
    },
    async followUp(applicationId, token, request) {
      const interaction = answerable(applicationId, token);
      const message = answer(interaction, parsed(EDIT_MESSAGE, (await bodyOf(request)).json));
      return { json: messageJson(world, message) };
    },
  };
}
