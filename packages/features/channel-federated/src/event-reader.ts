/** Events of rooms and invitations: what of them is for us, from whom and where it is heard. */
import { type FeatureContext, type Inbound, type StateStore, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, listOf, parseJson, senderGate, wordOf } from "@svc/kit";
import { isDefinite } from "./api.ts";
import { CHANNEL, type Config } from "./config.ts";
import type { Crypto } from "./crypto.ts";
import { eventIdOf, inboundOf, lockedOf, repliedTo } from "./inbound.ts";
import { ANSWERS, type OwnMessages } from "./outbound.ts";
import type { Rooms } from "./rooms.ts";
import { isVerification } from "./verification.ts";
import { hash } from "node:crypto";

export interface ReaderDeps {
  readonly rooms: Rooms;
  readonly ownMessages: OwnMessages;
  readonly userId: string;
  /** Undefined: the token belongs to no device. */
  readonly crypto: Crypto | undefined;
  readonly replays: Replays;
  readonly context: Pick<FeatureContext<Config>, "config" | "clock" | "log">;
}

export interface RoomEvent {
  readonly roomId: string;
  readonly event: Fields;
}

export interface ReadEvents {
  readonly inbound: readonly Inbound[];
  /** Their keys have not come yet. */
  readonly waiting: readonly RoomEvent[];
  readonly redacted: ReadonlySet<string>;
}

export function eventReader({ rooms, ownMessages, userId, crypto, replays, context }: ReaderDeps) {
  const { config, clock, log } = context;
  const isAllowed = senderGate({ allowed: config.allowed_users, mode: "exact", log, channel: CHANNEL });
  const logged = new Set<string>();
  /** Messages that were answered before the state of this process was restored; in normal life they are in the inbox, too. */
  const answered = new Set<string>();
  const noteAnswer = ({ content }: Fields): void => {
    const id = eventIdOf(fieldsOf(content)[ANSWERS]);
    if (id === undefined) return;
    answered.add(id);
    for (const oldest of answered) if (answered.size > MOST_ANSWERED) answered.delete(oldest);
  };
  const tellOnce = (what: string, roomId: string): void => {
    if (logged.size > MOST_TOLD || logged.has(what + roomId)) return;
    logged.add(what + roomId);
    log.info(what, { channel: CHANNEL, room: roomId.slice(0, 320) });
  };
  const isHeard = async (roomId: string, signal: AbortSignal): Promise<boolean> => {
    const allowed = config.allowed_rooms ?? (config.room_id === undefined ? ["*"] : [config.room_id]);
    for (const room of allowed) {
      if (room === "*" || room === roomId) return true;
      const id = await rooms.resolve(room, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof SvcError && error.code === "DELIVERY_REFUSED") return undefined;
        throw error;
      });
      if (id === roomId) return true;
    }
    return false;
  };

  /** Undefined: nothing of it is for us. */
  const plainOf = async (
    { roomId, event }: RoomEvent,
    signal: AbortSignal,
  ): Promise<Fields | "waiting" | undefined> => {
    if (event["type"] === "m.room.encrypted") {
      if (crypto === undefined) {
        tellOnce("an encrypted message can't be read: the access token belongs to no device", roomId);
        return undefined;
      }
      const result = await crypto.decrypt(roomId, event);
      if (result.state === "decrypted") {
        if (!(await replays.isReplay(roomId, event))) return result.event;
        const id = eventIdOf(event["event_id"]);
        log.warn("an encrypted message came a second time, as another event; it is dropped", {
          channel: CHANNEL,
          room: roomId.slice(0, 320),
          event: id,
        });
        return undefined;
      }
      if (result.state === "unreadable") tellOnce("an encrypted message can't be read, and is not answered", roomId);
      return result.state === "waiting" ? "waiting" : undefined;
    }
    const isMessage = event["type"] === "m.room.message" || event["type"] === "m.sticker";
    // The homeserver could write it in anyone's name; a verification proves itself, and some clients write it in clear text.
    if (isMessage && !isVerification(event) && (await rooms.encryption(roomId, signal)) !== undefined) {
      tellOnce("a message in an encrypted room is not encrypted, and is not answered", roomId);
      return undefined;
    }
    return event;
  };

  const inboundIn = async (roomId: string, event: Fields, signal: AbortSignal): Promise<Inbound | undefined> => {
    const sender = wordOf(event["sender"]) ?? "";
    const members = await rooms.members(roomId, signal);
    const isGroup = [...members.values()].filter(({ isJoined }) => isJoined).length > 2;
    const replied = repliedTo(fieldsOf(event["content"]));
    const isReplyToUs =
      isGroup && config.mention_only && replied !== undefined && (await ownMessages.has(roomId, replied, signal));
    return inboundOf(event, {
      roomId,
      userId,
      ownName: members.get(userId)?.name,
      senderName: members.get(sender)?.name,
      isGroup,
      mentionOnly: config.mention_only,
      isReplyToUs,
      receivedAtMs: clock.now(),
    });
  };

  return {
    async read(arrived: readonly RoomEvent[], signal: AbortSignal): Promise<ReadEvents> {
      const inbound: Inbound[] = [];
      const waiting: RoomEvent[] = [];
      const redacted = new Set<string>();
      for (const { event } of arrived) if (wordOf(event["sender"]) === userId) noteAnswer(event);
      for (const { roomId, event } of arrived) {
        const sender = wordOf(event["sender"]);
        if (sender === undefined || sender === userId) continue;
        if (!READ.has(String(event["type"])) && !isVerification(event)) continue;
        if (event["type"] === "m.room.redaction") {
          const id = eventIdOf(event["redacts"] ?? fieldsOf(event["content"])["redacts"]);
          if (id !== undefined) redacted.add(id);
          continue;
        }
        if (answered.has(eventIdOf(event["event_id"]) ?? "")) {
          tellOnce("a message that this account has answered already is not answered again", roomId);
          continue;
        }
        if (!(await isHeard(roomId, signal))) {
          tellOnce("a message in a room that is not in allowed_rooms is not answered", roomId);
          continue;
        }
        if (!isAllowed(sender)) continue;
        try {
          const plain = await plainOf({ roomId, event }, signal);
          if (plain === "waiting") {
            waiting.push({ roomId, event });
            const locked = lockedOf(event, { roomId, receivedAtMs: clock.now() });
            if (locked) inbound.push(locked);
          } else if (plain !== undefined && isVerification(plain)) await crypto?.askers.heard(roomId, plain, signal);
          else if (plain !== undefined) {
            const message = await inboundIn(roomId, plain, signal);
            if (message) inbound.push(message);
          }
        } catch (error) {
          // As of a room that is gone. It must not keep all other rooms from being heard.
          if (!isDefinite(error)) throw error;
          tellOnce("the homeserver refuses what a message needs to be read; it is not answered", roomId);
        }
      }
      const isLeft = ({ id }: Inbound): boolean => id === undefined || !redacted.has(id);
      return { inbound: inbound.filter(isLeft), waiting, redacted };
    },
    /** Rooms that allowed people invite to, and that are allowed. */
    async invitations(invited: Fields, signal: AbortSignal): Promise<readonly string[]> {
      const accepted: string[] = [];
      for (const [roomId, room] of Object.entries(invited)) {
        const events = listOf(fieldsOf(fieldsOf(room)["invite_state"])["events"]).map(fieldsOf);
        const ours = events.find(({ type, state_key: whose }) => type === "m.room.member" && whose === userId);
        const inviter = wordOf(ours?.["sender"]);
        if (config.invite === "never" || inviter === undefined || !isAllowed(inviter)) continue;
        if (!(await isHeard(roomId, signal))) {
          tellOnce("an invitation to a room that is not in allowed_rooms is not accepted", roomId);
          continue;
        }
        accepted.push(roomId);
      }
      return accepted;
    },
  };
}

const MOST_TOLD = 1_000;
const MOST_ANSWERED = 5_000;

const READ: ReadonlySet<string> = new Set([
  "m.room.message",
  "m.room.encrypted",
  "m.sticker",
  "m.reaction",
  "m.room.redaction",
]);

// A homeserver could hand over the same ciphertext once more, as another event. Each message of a Megolm session has a place of its
// own, its index, which the sender has signed: the event that had a place first is remembered on disk, and another one in it is
// refused. https://spec.matrix.org/v1.16/client-server-api/#mmegolmv1aes-sha2 ("Clients should guard against replay attacks")

interface Replays {
  /** Whether another event has this one's place in its session. Else the place is this event's from now on. */
  isReplay(roomId: string, event: Fields): Promise<boolean>;
  /** What has to be on disk in the transaction that accepts the messages: texts of the feature's state, by name. */
  unstored(): Readonly<Record<string, string>>;
  /** The texts of `unstored` are on disk. */
  stored(): void;
}

/** Places in one text: with each message one is written anew. */
const PLACES = 100;
const MOST_TEXTS_CACHED = 200;

export function createReplays(state: StateStore): Replays {
  const texts = new Map<string, Map<number, string>>();
  const changed = new Set<string>();

  const placesIn = async (name: string): Promise<Map<number, string>> => {
    const known = texts.get(name) ?? read(await state.get(name));
    texts.delete(name);
    texts.set(name, known);
    for (const oldest of texts.keys()) {
      if (texts.size <= MOST_TEXTS_CACHED) break;
      if (oldest !== name && !changed.has(oldest)) texts.delete(oldest);
    }
    return known;
  };

  return {
    async isReplay(roomId, event) {
      const content = fieldsOf(event["content"]);
      const [session, index] = [wordOf(content["session_id"]), messageIndex(content["ciphertext"])];
      // It was decrypted, and yet is no Megolm message: not by the library's present algorithms.
      if (session === undefined || index === undefined) return true;
      const name = `seen:${shortOf(`${roomId} ${session}`)}:${Math.floor(index / PLACES)}`;
      const places = await placesIn(name);
      const own = shortOf(String(event["event_id"]));
      const first = places.get(index);
      if (first !== undefined) return first !== own;
      places.set(index, own);
      changed.add(name);
      return false;
    },
    unstored: () =>
      Object.fromEntries([...changed].map((name) => [name, JSON.stringify([...(texts.get(name) ?? [])])])),
    stored: () => changed.clear(),
  };
}

const shortOf = (text: string): string => hash("sha256", text, "base64url").slice(0, 22);

function read(text: string | undefined): Map<number, string> {
  const entries = text === undefined ? [] : parseJson(Buffer.from(text));
  return new Map(entries as [number, string][]);
}

/**
 * The index in a Megolm message that was decrypted: a version, then a tag and a number of 7 bits in each byte.
 * https://gitlab.matrix.org/matrix-org/olm/-/blob/master/docs/megolm.md#message-format
 */
export function messageIndex(ciphertext: unknown): number | undefined {
  if (typeof ciphertext !== "string") return undefined;
  // Version, tag and five bytes of the number.
  const bytes = Buffer.from(ciphertext.slice(0, 12), "base64");
  if (bytes[0] !== 3 || bytes[1] !== 8) return undefined;
  let index = 0;
  for (let at = 2; at < Math.min(bytes.length, 7); at += 1) {
    const byte = bytes[at] ?? 0;
    index += (byte & 0x7f) * 2 ** (7 * (at - 2));
    if (byte < 0x80) return index;
  }
  return undefined;
}
