/** What people see of the bot. */
import type { Json } from "@svc/contract";
import type { DiscordMessage } from "./world.ts";
import type { DiscordWorld } from "./world.ts";

export interface DiscordSent {
  readonly id: string;
  readonly channelId: string;
  readonly text: string;
  /** Labels. */
  readonly buttons: readonly string[];
  readonly customIds: readonly string[];
  /** The message that it answers. */
  readonly answers: string | undefined;
  readonly flags: number;
  readonly fileNames: readonly string[];
  readonly message: DiscordMessage;
}

/** In all channels, in order of time. */
export const sentBy = (world: DiscordWorld): DiscordSent[] =>
  [...world.channels.values()]
    .flatMap(({ messages }) => [...messages.values()])
    .filter(({ authorId }) => authorId === world.bot.id)
    .toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
    .map(sentOf);

function sentOf(message: DiscordMessage): DiscordSent {
  const { id, channelId, content, components, reference, flags, attachments } = message;
  const buttons = components.flatMap(
    (row) => (row as { components: { label: string; custom_id: string }[] }).components,
  );
  return {
    id,
    channelId,
    text: content,
    buttons: buttons.map(({ label }) => label),
    customIds: buttons.map(({ custom_id: customId }) => customId),
    answers: reference,
    flags,
    fileNames: attachments.map((file) => String((file as Record<string, Json>)["filename"])),
    message,
  };
}
