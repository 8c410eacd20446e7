/** What of the world a request may touch. Throws as the platform refuses. */
import { refusal } from "./errors.ts";
import type { DiscordChannel, DiscordMessage, DiscordPermission, DiscordWorld } from "./world.ts";

export function channelFor(world: DiscordWorld, id: string, ...needs: readonly DiscordPermission[]): DiscordChannel {
  const channel = world.channels.get(id);
  if (channel === undefined) throw refusal("unknownChannel");
  if (channel.denied.has("view")) throw refusal("missingAccess");
  if (needs.some((need) => channel.denied.has(need))) throw refusal("missingPermissions");
  return channel;
}

export function messageIn(channel: DiscordChannel, id: string): DiscordMessage {
  const message = channel.messages.get(id);
  if (message === undefined) throw refusal("unknownMessage");
  return message;
}
