/**
 * A homeserver could hand over the same ciphertext once more, as another event. Each message of a Megolm session has a place of its own,
 * its index, which the sender has signed: the event that had a place first is remembered on disk, and another one in it is refused.
 * https://spec.matrix.org/v1.16/client-server-api/#mmegolmv1aes-sha2 ("Clients should guard against replay attacks")
 */
import { hash } from "node:crypto";
import type { StateStore } from "@svc/contract";
import { type Fields, fieldsOf, parseJson, wordOf } from "@svc/kit";

export interface Replays {
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
