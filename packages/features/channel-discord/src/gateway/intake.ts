/** What the gateway tells, one event after the other: taken where it is meant for the bot, and kept before the next one. */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, textOf } from "../api/fields.ts";
import type { Rest } from "../api/rest.ts";
import { idOf } from "../api/snowflake.ts";
import type { Config } from "../config.ts";
import type { Interaction } from "../inbound/interaction.ts";
import { messageOf, type MessageReader } from "../inbound/message.ts";
import type { Self } from "../inbound/people.ts";
import { reactionOf } from "../inbound/reaction.ts";
import type { Rooms } from "../inbound/rooms.ts";
import type { DirectMessages } from "../state/direct-messages.ts";
import type { InteractionTokens } from "../state/interaction-tokens.ts";
import { DIRECT, type Reading } from "../state/reading.ts";
import { catchUp, unreadOf } from "./catch-up.ts";
import { kept } from "./kept.ts";

export interface IntakeParts {
  readonly context: Pick<FeatureContext, "clock" | "log" | "receive">;
  readonly config: Config;
  readonly rest: Rest;
  readonly reader: MessageReader;
  readonly rooms: Rooms;
  readonly reading: Reading;
  readonly direct: DirectMessages;
  readonly tokens: InteractionTokens;
  readonly isAllowed: (userId: string) => boolean;
  readonly listensTo: (guildId: string) => boolean;
}

/** An event of the platform by its name, or an interaction that was answered at once. */
export type Event = { readonly type: string; readonly data: Fields } | { readonly interaction: Interaction };

/** People of the list whose direct messages are looked for although they never wrote. */
const MOST_OPENED = 20;

/** Resolves when the event is done with: what it says is on disk. */
export function intake(parts: IntakeParts): (event: Event, signal: AbortSignal) => Promise<void> {
  const { context, config, rest, reader, rooms, reading, direct, tokens, isAllowed, listensTo } = parts;
  let self: Self | undefined;

  const isHeardIn = (guildId: string | undefined): boolean => guildId === undefined || listensTo(guildId);

  /** `before`: what has to be on disk first. */
  const keep = (inbound: Inbound, signal: AbortSignal, before?: () => Promise<void>): Promise<void> => {
    const toDisk = async (): Promise<void> => {
      await before?.();
      await context.receive([inbound]);
    };
    return kept(context, toDisk, signal);
  };

  const take = async (message: Fields, signal: AbortSignal): Promise<boolean> => {
    const inbound = self && messageOf(reader, self, message);
    const guildId = idOf(message["guild_id"]);
    if (inbound === undefined || !isHeardIn(guildId) || !isAllowed(inbound.sender)) return false;
    const remember = guildId === undefined ? () => direct.met(inbound.sender, inbound.conversation.id) : undefined;
    await keep(inbound, signal, remember);
    return true;
  };

  const ready = async (data: Fields, signal: AbortSignal): Promise<void> => {
    const userId = idOf(fieldsOf(data["user"])["id"]);
    if (userId === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The platform does not tell who the bot is.");
    self = { userId };
    rooms.setSelf(userId);
    await reading.begin();
    for (const one of config.allowed_users.filter((user) => idOf(user) !== undefined).slice(0, MOST_OPENED)) {
      if (!(await direct.knows(one))) await direct.open(one, signal).catch(unlessGone);
    }
    const history = { channels: await direct.channels(), since: await reading.since(DIRECT) };
    await catchUp(rest, context, history, (message) => take(message, signal), signal);
  };

  const arrived = async (guild: Fields, signal: AbortSignal): Promise<void> => {
    const guildId = idOf(guild["id"]);
    if (guildId === undefined || guild["unavailable"] === true || !listensTo(guildId)) return;
    const history = unreadOf(guild, await reading.since(guildId, joinedAtMs(guild)));
    // What the history tells has no server.
    await catchUp(rest, context, history, (message) => take({ ...message, guild_id: guildId }, signal), signal);
    if (history.latest !== undefined) reading.moved(guildId, history.latest);
  };

  return async (event, signal) => {
    if ("interaction" in event) {
      const { id, kind, applicationId, token, inbound } = event.interaction;
      return keep(inbound, signal, kind === "command" ? () => tokens.keep(id, { applicationId, token }) : undefined);
    }
    const { type, data } = event;
    rooms.learn(type, data);
    if (type === "READY") return ready(data, signal);
    if (type === "GUILD_CREATE") return arrived(data, signal);
    if (type === "MESSAGE_REACTION_ADD") {
      const reaction = self && reactionOf(self, data);
      const isHeard = reaction && isHeardIn(idOf(data["guild_id"])) && isAllowed(reaction.sender);
      if (isHeard) await keep(reaction, signal);
    }
    if (type !== "MESSAGE_CREATE") return;
    const isTaken = await take(data, signal);
    const id = idOf(data["id"]);
    if (id !== undefined) reading.moved(idOf(data["guild_id"]) ?? DIRECT, id);
    // What is not on disk is only read again.
    if (isTaken) await reading.save().catch(() => undefined);
  };
}

const joinedAtMs = (guild: Fields): number => Math.max(0, Date.parse(textOf(guild["joined_at"]) ?? "") || 0);

/** Who has left, or takes no messages. */
function unlessGone(error: unknown): void {
  if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
}
