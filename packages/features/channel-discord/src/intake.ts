/** What the gateway tells, one event after the other: taken where it is meant for the bot, and kept before the next one. */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { retry } from "@svc/kit";
import type { Config } from "./config.ts";
import { type Interaction, type InteractionTokens, reactionOf } from "./interactions.ts";
import { messageOf, type MessageReader, type Rooms } from "./message.ts";
import type { DirectMessages } from "./places.ts";
import {
  type Fields,
  fieldsOf,
  idAt,
  idOf,
  isLater,
  laterOf,
  listOf,
  type Self,
  textOf,
  timeOfId,
} from "./protocol.ts";
import type { Rest, RestRequest } from "./rest.ts";

export interface IntakeDeps {
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
export function intake(deps: IntakeDeps): (event: Event, signal: AbortSignal) => Promise<void> {
  const { context, config, rest, reader, rooms, reading, direct, tokens, isAllowed, listensTo } = deps;
  let self: Self | undefined;

  const isHeardIn = (guildId: string | undefined): boolean => guildId === undefined || listensTo(guildId);

  /** `before`: what has to be on disk first. */
  const keep = (inbound: Inbound, signal: AbortSignal, before?: () => Promise<void>): Promise<void> => {
    const toDisk = async (): Promise<void> => {
      await before?.();
      await context.receive([inbound]);
    };
    return retryUntilStored(context, toDisk, signal);
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
    // If the position is not saved, the message is only read again.
    if (isTaken) await reading.save().catch(() => undefined);
  };
}

const joinedAtMs = (guild: Fields): number => Math.max(0, Date.parse(textOf(guild["joined_at"]) ?? "") || 0);

/** Who has left, or takes no messages. */
function unlessGone(error: unknown): void {
  if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
}

const STORE_BACKOFF = { firstMs: 500, longestMs: 30_000 };

/** Retries until it is stored: the platform does not repeat an event. Rejects with the signal's reason. */
async function retryUntilStored(
  { clock, log }: Pick<FeatureContext, "clock" | "log">,
  store: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = (error: unknown, retryInMs: number): void => {
    const code = error instanceof SvcError ? error.code : "INTERNAL";
    log.warn("a message could not be stored; will retry, and later events wait", { code, retryInMs });
  };
  await retry(store, { ...STORE_BACKOFF, clock, signal, onFailure });
}

/**
 * What was written while no one was connected, from the history of each channel.
 * https://docs.discord.com/developers/resources/message#get-channel-messages
 */
export interface History {
  /** Those with the latest messages first. */
  readonly channels: readonly string[];
  /** Messages up to this id are known. */
  readonly since: string;
}

const PAGE = 100;
/** Of one channel; who wrote more there did not wait for an answer to each. */
const MOST_PAGES = 10;
const MOST_CHANNELS = 100;
const TRIES = 4;
const BACKOFF = { firstMs: 2_000, longestMs: 60_000 };
const FINAL: ReadonlySet<string> = new Set(["CHANNEL_UNAUTHORIZED", "DELIVERY_REFUSED"]);

/** Hands over each channel's messages, oldest first. Throws REMOTE_*, CHANNEL_UNAUTHORIZED. */
async function catchUp(
  rest: Rest,
  { clock, log }: Pick<FeatureContext, "clock" | "log">,
  { channels, since }: History,
  take: (message: Fields) => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  let cutOff = Math.max(0, channels.length - MOST_CHANNELS);
  for (const channelId of channels.slice(0, MOST_CHANNELS)) {
    let after = since;
    for (let pages = 1; ; pages += 1) {
      const request = { path: `channels/${channelId}/messages`, query: { after, limit: String(PAGE) } };
      const page = pageOf(await patiently(rest, request, clock, signal), after);
      for (const message of page) await take(message);
      after = page.reduce((latest, { id }) => laterOf(latest, id as string), after);
      if (page.length < PAGE) break;
      if (pages === MOST_PAGES) {
        cutOff += 1;
        break;
      }
    }
  }
  if (cutOff > 0)
    log.warn("more was written meanwhile than is read; mention the bot again there", { channels: cutOff });
}

/**
 * Channels and threads of a server in which something was written since then, and the latest of it.
 * https://docs.discord.com/developers/events/gateway-events#guild-create
 */
function unreadOf(guild: Fields, since: string): History & { readonly latest: string | undefined } {
  const unread = [...listOf(guild["channels"]), ...listOf(guild["threads"])]
    .map(fieldsOf)
    .flatMap(({ id, last_message_id: last }) => {
      const [channelId, lastId] = [idOf(id), idOf(last)];
      return channelId !== undefined && lastId !== undefined && isLater(lastId, since) ? [{ channelId, lastId }] : [];
    })
    .toSorted((a, b) => (isLater(b.lastId, a.lastId) ? 1 : -1));
  return { channels: unread.map(({ channelId }) => channelId), since, latest: unread[0]?.lastId };
}

/** The platform gives them newest first. Undefined: what the bot may not read any more. */
function pageOf(json: unknown, after: string): Fields[] {
  const isNew = ({ id }: Fields): boolean => {
    const known = idOf(id);
    return known !== undefined && isLater(known, after);
  };
  const messages = listOf(json).map(fieldsOf).filter(isNew);
  return messages.toSorted((a, b) => (isLater(a["id"] as string, b["id"] as string) ? 1 : -1));
}

async function patiently(
  rest: Rest,
  request: RestRequest,
  clock: FeatureContext["clock"],
  signal: AbortSignal,
): Promise<unknown> {
  const onFailure = (error: unknown, retryInMs: number): void => {
    const isFinal = !(error instanceof SvcError) || FINAL.has(error.code);
    if (isFinal || retryInMs > BACKOFF.longestMs) throw error;
  };
  try {
    return await retry(() => rest.call(request, signal), { ...BACKOFF, maxTries: TRIES, clock, signal, onFailure });
  } catch (error) {
    // Deleted, or nothing that the bot may see.
    if (error instanceof SvcError && error.code === "DELIVERY_REFUSED") return undefined;
    throw error;
  }
}

/**
 * How far each server, and the direct messages, have been read: ids are in the order of time, so one of each is enough to ask
 * for what was written while no one was connected.
 */
interface Reading {
  /** Called with each session. The first one of all is where reading begins. */
  begin(): Promise<void>;
  /** Messages after this id may be unread. `joinedAtMs`: ignore messages before it. */
  since(place: string, joinedAtMs?: number): Promise<string>;
  /** It was handed over, or is of no interest, and so is what came before it. */
  moved(place: string, id: string): void;
  /** To disk, where it moved. */
  save(): Promise<void>;
}

/** A place that is no server. */
const DIRECT = "direct";

/** Less than ids are remembered by the inbox, so that what was answered is not answered again. */
const LONGEST_MS = 604_800_000;
/** Messages of different channels may arrive out of order; a message that is read twice is known by its id. */
const OVERLAP_MS = 60_000;

/** Tolerance for a platform clock ahead of ours. */
const MOST_AHEAD_MS = 86_400_000;

const BEGAN = "began";
const nameOf = (place: string): string => `read ${place}`;

export function readingIn({ state, clock }: Pick<FeatureContext, "state" | "clock">): Reading {
  const moved = new Map<string, string>();
  const saved = new Map<string, string>();
  const stored = async (name: string): Promise<string | undefined> => idOf(await state.get(name));
  return {
    async begin() {
      if ((await stored(BEGAN)) === undefined) await state.set(BEGAN, idAt(clock.now()));
    },
    async since(place, joinedAtMs = 0) {
      const read = moved.get(place) ?? (await stored(nameOf(place)));
      const began = (await stored(BEGAN)) ?? idAt(clock.now());
      const from = read === undefined ? began : laterOf(began, idAt(timeOfId(read) - OVERLAP_MS));
      return laterOf(from, idAt(Math.max(joinedAtMs, clock.now() - LONGEST_MS)));
    },
    moved(place, id) {
      // One such id, and nothing would ever be unread again.
      if (timeOfId(id) > clock.now() + MOST_AHEAD_MS) return;
      const before = moved.get(place);
      if (before === undefined || isLater(id, before)) moved.set(place, id);
    },
    async save() {
      for (const [place, id] of moved) {
        if (saved.get(place) === id) continue;
        await state.set(nameOf(place), id);
        saved.set(place, id);
      }
    },
  };
}
