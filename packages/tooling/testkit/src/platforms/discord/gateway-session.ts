/** A session outlives its connections: what it has told is told again to who resumes it. */
import type { Json } from "@svc/contract";
import { MESSAGE_CONTENT } from "./frames.ts";
import type { DiscordDispatch, DiscordWorld } from "./world.ts";

export interface GatewaySession {
  readonly id: string;
  readonly intents: number;
  /** Of the last event. */
  readonly seq: number;
  /** Where events go; undefined: they wait. */
  send: ((payload: Json) => void) | undefined;
  tell(dispatch: DiscordDispatch): void;
  /** What came after this event. False: it was never told so much. */
  replay(seq: number): boolean;
}

export function gatewaySession(world: DiscordWorld, id: string, intents: number): GatewaySession {
  const sent: Json[] = [];
  const session: GatewaySession = {
    id,
    intents,
    get seq() {
      return sent.length;
    },
    send: undefined,
    tell({ type, data, intent }) {
      if (intent !== 0 && (intents & intent) === 0) return;
      const payload: Json = { op: 0, t: type, s: sent.length + 1, d: visible(world, intents, type, data) };
      sent.push(payload);
      session.send?.(payload);
    },
    replay(seq) {
      if (seq > sent.length) return false;
      for (const payload of sent.slice(seq)) session.send?.(payload);
      return true;
    },
  };
  return session;
}

/**
 * Who did not ask for content sees none, but of direct messages, its own, and those that mention it.
 * https://docs.discord.com/developers/events/gateway#message-content-intent
 */
function visible(world: DiscordWorld, intents: number, type: string, data: Readonly<Record<string, Json>>): Json {
  if (!type.startsWith("MESSAGE_") || !("content" in data) || (intents & MESSAGE_CONTENT) !== 0) return data;
  const isOwn = (data["author"] as { id?: Json })["id"] === world.bot.id;
  const mentions = (data["mentions"] as { id?: Json }[]).some((user) => user["id"] === world.bot.id);
  if (data["guild_id"] === undefined || isOwn || mentions) return data;
  return { ...data, content: "", embeds: [], attachments: [], components: [] };
}
