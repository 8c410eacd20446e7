/** What is known of rooms: their members, whether they are encrypted, and where aliases lead. */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, listOf, parseJson, pathPart, wordOf } from "@svc/kit";
import { isRefusal, type MatrixApi } from "./api.ts";
import { ROOM_ALIAS, ROOM_ID } from "./config.ts";

export interface Member {
  readonly name: string | undefined;
  readonly isJoined: boolean;
}

/** `m.room.encryption`. https://spec.matrix.org/v1.16/client-server-api/#mroomencryption */
export interface RoomEncryption {
  readonly rotationMs: number | undefined;
  readonly rotationMessages: number | undefined;
}

export interface Rooms {
  /** Members who have joined or are invited, by user id. Throws as `MatrixApi.call`. */
  members(roomId: string, signal: AbortSignal): Promise<ReadonlyMap<string, Member>>;
  /** They may have changed without a word of it: the homeserver is asked again. */
  forgetMembers(roomId: string): void;
  /** Undefined for a room that is not encrypted. A room that was encrypted once stays so. Throws as `MatrixApi.call`. */
  encryption(roomId: string, signal: AbortSignal): Promise<RoomEncryption | undefined>;
  /** A state event that sync brought. Resolves once what has to last is on disk. */
  changed(roomId: string, event: Fields): Promise<void>;
  /** The id of a room by its id or alias. Throws DELIVERY_REFUSED for what is neither, and as `MatrixApi.call`. */
  resolve(room: string, signal: AbortSignal): Promise<string>;
  /** Asks again where an alias leads, e.g. because its room is closed to us; undefined: nowhere else. */
  moved(room: string, from: string, signal: AbortSignal): Promise<string | undefined>;
}

/** An alias may be moved to another room at any time. */
const ALIAS_LASTS_MS = 3_600_000;
const MOST_ROOMS_CACHED = 500;
const MAX_MEMBERS_BYTES = 33_554_432;

export const roomPath = (roomId: string, rest: string): string => `client/v3/rooms/${pathPart(roomId)}/${rest}`;

export function createRooms(api: MatrixApi, { state, clock }: Pick<FeatureContext, "state" | "clock">): Rooms {
  const membersOf = new Map<string, ReadonlyMap<string, Member>>();
  const unencrypted = new Set<string>();
  const encrypted = stored<RoomEncryption>(state, "encrypted-rooms");
  const aliases = stored<{ readonly roomId: string; readonly atMs: number }>(state, "aliases");

  const lookUp = async (alias: string, signal: AbortSignal): Promise<string> => {
    const answer = await api.call({ method: "GET", path: `client/v3/directory/room/${pathPart(alias)}` }, signal);
    const roomId = wordOf(answer["room_id"]);
    if (roomId === undefined || !ROOM_ID.test(roomId)) throw unreadable();
    await aliases.set(alias, { roomId, atMs: clock.now() });
    return roomId;
  };
  const keep = <T>(map: Map<string, T>, key: string, value: T): T => {
    map.set(key, value);
    for (const oldest of map.keys()) if (map.size > MOST_ROOMS_CACHED) map.delete(oldest);
    return value;
  };

  return {
    async members(roomId, signal) {
      const known = membersOf.get(roomId);
      if (known) return known;
      const answer = await api.call(
        {
          method: "GET",
          path: roomPath(roomId, "members"),
          query: { not_membership: "leave" },
          maxBytes: MAX_MEMBERS_BYTES,
        },
        signal,
      );
      if (!Array.isArray(answer["chunk"])) throw unreadable();
      return keep(membersOf, roomId, membersIn(answer["chunk"]));
    },
    forgetMembers: (roomId) => void membersOf.delete(roomId),
    async encryption(roomId, signal) {
      const known = await encrypted.get(roomId);
      if (known) return known;
      if (unencrypted.has(roomId)) return undefined;
      let content: Fields;
      try {
        content = await api.call({ method: "GET", path: roomPath(roomId, "state/m.room.encryption/") }, signal);
      } catch (error) {
        if (!isRefusal(error, "M_NOT_FOUND")) throw error;
        unencrypted.add(roomId);
        return undefined;
      }
      // Without a word on it, nothing is sent in clear text.
      if (wordOf(content["algorithm"]) === undefined) throw unreadable();
      const settings = encryptionOf(content);
      await encrypted.set(roomId, settings);
      return settings;
    },
    async changed(roomId, event) {
      if (event["type"] === "m.room.member") membersOf.delete(roomId);
      if (event["type"] !== "m.room.encryption" || event["state_key"] !== "") return;
      unencrypted.delete(roomId);
      if ((await encrypted.get(roomId)) === undefined) {
        await encrypted.set(roomId, encryptionOf(fieldsOf(event["content"])));
      }
    },
    async resolve(room, signal) {
      const text = room.trim();
      if (ROOM_ID.test(text)) return text;
      if (!ROOM_ALIAS.test(text)) {
        throw new SvcError("DELIVERY_REFUSED", "This is no room of the platform.", {
          hint: "Write a room's id, such as !abc:example.org, or its alias, such as #name:example.org.",
        });
      }
      const known = await aliases.get(text);
      if (known && clock.now() - known.atMs < ALIAS_LASTS_MS) return known.roomId;
      try {
        return await lookUp(text, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (known && !isRefusal(error, "M_NOT_FOUND")) return known.roomId;
        throw error;
      }
    },
    async moved(room, from, signal) {
      const text = room.trim();
      if (!ROOM_ALIAS.test(text)) return undefined;
      const roomId = await lookUp(text, signal);
      return roomId === from ? undefined : roomId;
    },
  };
}

const encryptionOf = ({ rotation_period_ms: ms, rotation_period_msgs: messages }: Fields): RoomEncryption => ({
  rotationMs: positive(ms),
  rotationMessages: positive(messages),
});

const positive = (value: Json | undefined): number | undefined =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;

function membersIn(chunk: Json): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  for (const event of listOf(chunk).map(fieldsOf)) {
    const userId = wordOf(event["state_key"]);
    const { membership, displayname } = fieldsOf(event["content"]);
    if (userId === undefined || (membership !== "join" && membership !== "invite")) continue;
    members.set(userId, { name: nameOf(displayname), isJoined: membership === "join" });
  }
  return members;
}

/** On one line, so that nothing of it can be read as something else than a name. */
function nameOf(value: Json | undefined): string | undefined {
  const line = typeof value === "string" ? value.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim() : "";
  return line === "" ? undefined : line.slice(0, 100).toWellFormed();
}

const unreadable = (): SvcError => new SvcError("REMOTE_UNREACHABLE", "The homeserver's answer can't be read.");

/** A small map in the feature's state, read once. */
function stored<T>(state: FeatureContext["state"], name: string) {
  let loading: Promise<Map<string, T>> | undefined;
  const load = (): Promise<Map<string, T>> =>
    (loading ??= state.get(name).then(
      (text) =>
        new Map(Object.entries(fieldsOf(text === undefined ? undefined : parseJson(Buffer.from(text))))) as Map<
          string,
          never
        >,
      (error: unknown) => {
        // What can't be read now may be read later.
        loading = undefined;
        throw error;
      },
    ));
  return {
    get: async (key: string): Promise<T | undefined> => (await load()).get(key),
    async set(key: string, value: T): Promise<void> {
      const all = await load();
      all.set(key, value);
      await state.set(name, JSON.stringify(Object.fromEntries(all)));
    },
  };
}
