/**
 * The connection: one long request after the other. An answer is dealt with in an order that a kill at any instant can't turn
 * into a loss: the keys that it brought are in the machine's store, then the messages are in the inbox and what can't be decrypted
 * yet is on disk, in one transaction with the token that asks for what comes after. What a kill cuts off comes again, and is known by its id.
 * https://spec.matrix.org/v1.16/client-server-api/#syncing
 */
import { type FeatureContext, type Inbound, type Json, type ReceivedWith, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, listOf, parseJson, pathPart, retry, textOf, wordOf } from "@svc/kit";
import { type MatrixApi, MatrixRefusal, isDefinite } from "./api.ts";
import { CHANNEL, type Config, ROOM_ID } from "./config.ts";
import type { CryptoChanges } from "./crypto.ts";
import { type ReaderDeps, type RoomEvent, createReplays, eventReader } from "./event-reader.ts";
import { roomPath } from "./rooms.ts";
import { type Opened, WAITING, type WaitingDeps, waitingEvents } from "./waiting.ts";

export interface SyncDeps extends Omit<ReaderDeps, "replays">, WaitingDeps {
  readonly api: MatrixApi;
  /** Told of each answer that was dealt with. */
  readonly caughtUp: (signal: AbortSignal) => Promise<void>;
  readonly context: Pick<FeatureContext<Config>, "config" | "clock" | "log" | "state" | "receive">;
}

const POLL_MS = 30_000;
/** Beyond the homeserver's own: one that says nothing for longer is gone. */
const POLL_LIMIT_MS = POLL_MS + 15_000;
/** A homeserver that answers at once although there is nothing would be asked a thousand times a second. */
const LEAST_MS = 1_000;
const MAX_SYNC_BYTES = 67_108_864;
const TIMELINE_EVENTS = 50;
const GAP_EVENTS = 100;
const MOST_GAP_PAGES = 50;
const STORE_BACKOFF = { firstMs: 1_000, longestMs: 30_000 };

/** https://spec.matrix.org/v1.16/client-server-api/#filtering */
const FILTER = JSON.stringify({
  presence: { types: [] },
  account_data: { types: [] },
  room: {
    account_data: { types: [] },
    ephemeral: { types: [] },
    state: { types: ["m.room.encryption", "m.room.member"], lazy_load_members: true },
    timeline: { limit: TIMELINE_EVENTS, lazy_load_members: true },
  },
});

/** Where to go on, in the feature's state. */
const POSITION = "sync";

interface Position {
  readonly userId: string;
  readonly since: string;
  readonly atMs: number;
}

/** Runs until it is aborted. Throws as `MatrixApi.call`, and REMOTE_UNREACHABLE for an answer that can't be read. */
export async function runSync(deps: SyncDeps, signal: AbortSignal): Promise<void> {
  // What is begun beside the loop ends with it.
  const ending = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  const joins = await createJoins(deps, both);
  try {
    await loop(deps, joins, signal);
  } finally {
    ending.abort(new Error("the connection has ended"));
    await joins.ended();
  }
}

async function loop(deps: SyncDeps, joins: Joins, signal: AbortSignal): Promise<void> {
  const { api, crypto, userId, context } = deps;
  const { clock } = context;
  const replays = createReplays(context.state);
  const events = eventReader({ ...deps, replays });
  let position = await storedPosition(context, userId);
  const waiting = await waitingEvents(context.state, deps);

  // All that has come since is in the first answer, replies of our own included, which tell after a restore what was answered. Synapse
  // hands out the same answers again, one by one, for two minutes where the same is asked: hence another `timeout` than later.
  let isBegun = false;
  while (!signal.aborted) {
    const askedAtMs = clock.monotonic();
    const waitMs = isBegun ? POLL_MS : 0;
    const hasWaited = isBegun;
    isBegun = true;
    const answer = await ask(api, position?.since, waitMs, signal).catch((error: unknown) => {
      if (position === undefined || !isUnknownPosition(error)) throw error;
      context.log.warn("the homeserver does not know where this channel was; it begins anew", { channel: CHANNEL });
      return undefined;
    });
    const isLost = answer === undefined;
    const fresh = answer ?? (await ask(api, undefined, 0, signal));
    const since = textOf(fresh["next_batch"]);
    if (since === undefined) throw unreadable();
    const first = position === undefined;
    // What was written before the channel was set up is not answered.
    const fromMs = isLost && position ? position.atMs : undefined;

    if (crypto) {
      await crypto.receive(cryptoChangesIn(fresh), signal);
      await crypto.flush(signal);
    }
    joins.add(await events.invitations(fieldsOf(fieldsOf(fresh["rooms"])["invite"]), signal));
    const joined = Object.entries(fieldsOf(fieldsOf(fresh["rooms"])["join"]));
    const arrived: RoomEvent[] = [];
    for (const [roomId, room] of joined) {
      const since = isLost ? undefined : position?.since;
      const timeline = await roomEvents(deps, roomId, fieldsOf(room), since, signal);
      if (first) continue;
      arrived.push(
        ...timeline
          .filter(({ origin_server_ts: atMs }) => fromMs === undefined || Number(atMs) >= fromMs)
          .map((event) => ({ roomId, event })),
      );
    }
    const brought = cryptoChangesIn(fresh).toDevice.length > 0;
    const isUnchanged = since === position?.since;
    const opened = await waiting.open(brought, signal);
    const read = await events.read([...opened.events, ...arrived], signal);
    const change = waiting.after(opened, read);
    const next: Position = { userId, since, atMs: clock.now() };
    if (!isUnchanged || read.inbound.length > 0 || change.text !== undefined) {
      const state = {
        [POSITION]: JSON.stringify(next),
        ...(change.text !== undefined && { [WAITING]: change.text }),
        [INVITED]: JSON.stringify(joins.left()),
        ...replays.unstored(),
      };
      const more = { state, withdrawn: [...read.redacted], ended: change.ended };
      await store(context, unlocked(read.inbound, opened), more, signal);
      waiting.replace(change);
      replays.stored();
    }
    position = next;
    // Keys that are missing are asked for now, not with the next answer.
    if (read.waiting.length > 0) await crypto?.flush(signal);
    await deps.caughtUp(signal);
    if (isUnchanged && hasWaited && clock.monotonic() - askedAtMs < LEAST_MS) await clock.sleep(LEAST_MS, signal);
  }
}

/** What a sync answer holds for the machine. */
export function cryptoChangesIn(answer: Fields): CryptoChanges {
  const lists = fieldsOf(answer["device_lists"]);
  const words = (value: Json | undefined): string[] => listOf(value).flatMap((one) => wordOf(one) ?? []);
  const fallback = answer["device_unused_fallback_key_types"];
  return {
    toDevice: listOf(fieldsOf(answer["to_device"])["events"]),
    changed: words(lists["changed"]),
    left: words(lists["left"]),
    keyCounts: fieldsOf(answer["device_one_time_keys_count"]),
    unusedFallbackKeys: Array.isArray(fallback) ? words(fallback) : undefined,
  };
}

/** Those that the inbox has as `locked` take the places of these. */
function unlocked(inbound: readonly Inbound[], { events }: Opened): readonly Inbound[] {
  const ids = new Set(events.map(({ event }) => event["event_id"]));
  if (ids.size === 0) return inbound;
  return inbound.map((one) => (one.kind !== "locked" && ids.has(one.id ?? "") ? { ...one, unlocks: true } : one));
}

function ask(api: MatrixApi, since: string | undefined, waitMs: number, signal: AbortSignal): Promise<Fields> {
  const query = { filter: FILTER, since, timeout: String(waitMs), set_presence: "online" };
  return api.call(
    { method: "GET", path: "client/v3/sync", query, maxBytes: MAX_SYNC_BYTES, timeoutMs: POLL_LIMIT_MS },
    signal,
  );
}

const isUnknownPosition = (error: unknown): boolean => error instanceof MatrixRefusal && error.httpStatus === 400;

const unreadable = (): SvcError => new SvcError("REMOTE_UNREACHABLE", "The homeserver's answer can't be read.");

async function storedPosition({ state }: Pick<FeatureContext, "state">, userId: string): Promise<Position | undefined> {
  const text = await state.get(POSITION);
  const { userId: whose, since, atMs } = fieldsOf(text === undefined ? undefined : parseJson(Buffer.from(text)));
  // Of another account it leads nowhere.
  if (whose !== userId || typeof since !== "string" || typeof atMs !== "number") return undefined;
  return { userId, since, atMs };
}

/** Resolves once they are in the inbox: what the disk refuses is tried again. */
async function store(
  { receive, clock, log }: SyncDeps["context"],
  messages: readonly Inbound[],
  more: ReceivedWith,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = (error: unknown, retryInMs: number): void => {
    const reason = error instanceof SvcError ? error.code : "unknown";
    log.warn("messages could not be stored; will retry", { channel: CHANNEL, reason, retryInMs });
  };
  await retry(() => receive(messages, more), { ...STORE_BACKOFF, clock, signal, onFailure });
}

/** Timeline of a room, oldest first, with what the homeserver left out of its answer. */
async function roomEvents(
  { api, rooms, userId, context }: SyncDeps,
  roomId: string,
  room: Fields,
  since: string | undefined,
  signal: AbortSignal,
): Promise<Fields[]> {
  const timeline = fieldsOf(room["timeline"]);
  const events = listOf(timeline["events"]).map(fieldsOf);
  const before = textOf(timeline["prev_batch"]);
  const isGap = timeline["limited"] === true && since !== undefined && before !== undefined;
  const missed = isGap ? await missedEvents(api, { roomId, before, since }, signal) : NOTHING_MISSED;
  if (!missed.isComplete) {
    context.log.warn("more messages came than can be fetched; the oldest are not answered", {
      channel: CHANNEL,
      room: roomId.slice(0, 320),
    });
  }
  // What is left out may be that a member has left, for whom nothing may be encrypted any more.
  if (timeline["limited"] === true) rooms.forgetMembers(roomId);
  const all = [...missed.events, ...events];
  for (const event of [...listOf(room["state"] && fieldsOf(room["state"])["events"]).map(fieldsOf), ...all]) {
    if (event["state_key"] !== undefined) await rooms.changed(roomId, event);
  }
  // What was said before we were invited was not said to us.
  const entry = all.findLastIndex((event) => isEntry(event, userId));
  return entry === -1 ? all : all.slice(all.findIndex((event) => isEntry(event, userId)) + 1);
}

/** We are invited, or join. A new name is told by the same event. */
function isEntry({ type, state_key: whose, content, unsigned }: Fields, userId: string): boolean {
  if (type !== "m.room.member" || whose !== userId) return false;
  const { membership } = fieldsOf(content);
  const previous = fieldsOf(fieldsOf(unsigned)["prev_content"])["membership"];
  return (membership === "join" || membership === "invite") && previous !== "join";
}

interface Missed {
  /** Oldest first; the newest ones when there are too many. */
  readonly events: Fields[];
  readonly isComplete: boolean;
}

const NOTHING_MISSED: Missed = Object.freeze({ events: [], isComplete: true });

async function missedEvents(
  api: MatrixApi,
  { roomId, before, since }: { readonly roomId: string; readonly before: string; readonly since: string },
  signal: AbortSignal,
): Promise<Missed> {
  const pages: Fields[][] = [];
  let from = before;
  while (pages.length < MOST_GAP_PAGES) {
    const query = { dir: "b", from, to: since, limit: String(GAP_EVENTS) };
    const path = roomPath(roomId, "messages");
    const answer = await api
      .call({ method: "GET", path, query, maxBytes: MAX_SYNC_BYTES }, signal)
      .catch((error: unknown) => {
        if (!isDefinite(error)) throw error;
        return undefined;
      });
    // With each start it would be asked for, and refused, again.
    if (answer === undefined) break;
    if (!Array.isArray(answer["chunk"])) throw unreadable();
    const chunk = listOf(answer["chunk"]).map(fieldsOf);
    pages.unshift(chunk.toReversed());
    const next = textOf(answer["end"]);
    if (next === undefined || next === from || chunk.length === 0) return { events: pages.flat(), isComplete: true };
    from = next;
  }
  return { events: pages.flat(), isComplete: false };
}

// Rooms that the account was invited to and joins. A homeserver far away may take minutes: sync goes on meanwhile.

/** Their name in the feature's state: a list of room ids. */
const INVITED = "invited";

const LIMIT_MS = 120_000;
const BACKOFF = { firstMs: 10_000, longestMs: 600_000 };
const MOST_TRIES = 12;
const MOST_ROOMS = 50;

interface Joins {
  /** Rooms that are not joined yet. */
  left(): readonly string[];
  add(roomIds: readonly string[]): void;
  /** Resolves when nothing is tried any more. */
  ended(): Promise<void>;
}

/** Goes on with those that the last process left. */
async function createJoins(
  { api, context }: { readonly api: MatrixApi; readonly context: Pick<FeatureContext, "clock" | "log" | "state"> },
  signal: AbortSignal,
): Promise<Joins> {
  const { clock, log, state } = context;
  const open = new Map<string, Promise<void>>();

  const join = async (roomId: string): Promise<void> => {
    const path = `client/v3/join/${pathPart(roomId)}`;
    const request = { method: "POST", path, json: {}, timeoutMs: LIMIT_MS } as const;
    const onFailure = (error: unknown): void => {
      if (FINAL.has(codeOf(error))) throw error;
    };
    try {
      await retry(() => api.call(request, signal), { ...BACKOFF, maxTries: MOST_TRIES, clock, signal, onFailure });
      log.info("joined a room by invitation", { channel: CHANNEL, room: roomId });
    } catch (error) {
      if (signal.aborted) return;
      log.warn("an invitation could not be accepted", { channel: CHANNEL, room: roomId, code: codeOf(error) });
    }
  };
  const add = (roomIds: readonly string[]): void => {
    for (const roomId of roomIds) {
      if (open.has(roomId) || open.size >= MOST_ROOMS) continue;
      const joining = join(roomId).finally(() => {
        if (!signal.aborted) open.delete(roomId);
      });
      open.set(roomId, joining);
    }
  };

  const text = await state.get(INVITED);
  const stored = listOf(text === undefined ? undefined : parseJson(Buffer.from(text)));
  add(stored.flatMap((room) => wordOf(room) ?? []).filter((room) => ROOM_ID.test(room)));
  return { left: () => [...open.keys()], add, ended: async () => void (await Promise.allSettled(open.values())) };
}

/** The homeserver refuses for good. */
const FINAL: ReadonlySet<string> = new Set(["DELIVERY_REFUSED", "CHANNEL_UNAUTHORIZED"]);

const codeOf = (error: unknown): string => (error instanceof SvcError ? error.code : "unknown");
