/**
 * Events of the relay network: verifies that an event is a message of its author, and makes ours. Pure; all input comes from
 * strangers.
 *
 * Two protocols carry private messages. Legacy (NIP-04, kind 4): the author's event, whose text is encrypted. Gift wraps (NIP-17, 44, 59):
 * the message itself is an unsigned event (the rumor), which lies encrypted in an event that its author has signed (the seal), which lies
 * encrypted in an event of a one-time key (the wrap). The time of a wrap and of a seal is moved back by up to two days.
 * https://github.com/nostr-protocol/nips
 */
import { randomInt } from "node:crypto";
import type { Json } from "@svc/contract";
import { type Fields, fieldsOf, parseJson } from "@svc/kit";
import { decrypt as decryptLegacy, encrypt as encryptLegacy } from "nostr-tools/nip04";
import { decrypt, encrypt, getConversationKey } from "nostr-tools/nip44";
import {
  finalizeEvent,
  generateSecretKey,
  getEventHash,
  getPublicKey,
  type NostrEvent,
  verifyEvent,
} from "nostr-tools/pure";
import { npubOf, publicKeyIn, secretKeyIn } from "./config.ts";

export type { NostrEvent } from "nostr-tools/pure";

export const KIND = {
  legacy: 4,
  seal: 13,
  message: 14,
  file: 15,
  wrap: 1059,
  relayList: 10_002,
  inboxRelays: 10_050,
  auth: 22_242,
} as const;

/** By how much the times of wraps and seals may lie back. */
export const SKEW_SECS = 172_800;

const MAX_CONTENT_CHARS = 262_144;
const MAX_TAGS = 2_000;
const MAX_TAG_CHARS = 4_096;

export interface Identity {
  readonly secretKey: Uint8Array;
  /** Hex. */
  readonly pubkey: string;
  readonly npub: string;
}

export function identityOf(privateKey: string): Identity {
  const secretKey = secretKeyIn(privateKey);
  if (secretKey === undefined) throw new TypeError("the schema lets no such key through");
  const pubkey = getPublicKey(secretKey);
  return { secretKey, pubkey, npub: npubOf(pubkey) };
}

/** For a relay that wants to know who writes, and need not. */
export const throwawayIdentity = (): Identity => {
  const secretKey = generateSecretKey();
  const pubkey = getPublicKey(secretKey);
  return { secretKey, pubkey, npub: npubOf(pubkey) };
};

export type Protocol = "legacy" | "wrapped";

export interface DirectMessage {
  /** Id of the rumor, or of the legacy event: the same for every relay and wrap that carries it. */
  readonly id: string;
  /** Public key of its author, who has signed it. */
  readonly author: string;
  readonly text: string;
  /** When its author says it was written, in seconds. */
  readonly sentAtSecs: number;
  readonly protocol: Protocol;
  /** The message that it replies to. */
  readonly repliesTo?: string;
}

/** Why an event is no message for us, for the log. */
export type Refused = { readonly refused: string };

export const isRefused = (opened: DirectMessage | Refused): opened is Refused => "refused" in opened;

/** The event in a relay's frame; undefined for what has not its shape. Proves nothing. */
export function eventOf(value: Json | undefined): NostrEvent | undefined {
  const { id, pubkey, sig, kind, created_at: atSecs, tags, content } = fieldsOf(value);
  if (!isHex(id, 64) || !isHex(pubkey, 64) || !isHex(sig, 128)) return undefined;
  const rest = unsignedPart({ kind: kind!, created_at: atSecs!, tags: tags!, content: content! });
  return rest && { id, pubkey, sig, ...rest };
}

/** The message in an event of kind 4 or 1059, once everything that makes it its author's was checked. */
export function openEvent(event: NostrEvent, { secretKey, pubkey }: Identity): DirectMessage | Refused {
  if (!event.tags.some(([name, value]) => name === "p" && value === pubkey)) return { refused: "not addressed to us" };
  if (!isSigned(event)) return { refused: "its signature is wrong" };
  if (event.kind === KIND.legacy) return openLegacy(event, secretKey);
  if (event.kind === KIND.wrap) return openWrap(event, { secretKey, pubkey });
  return { refused: "another kind of event" };
}

function openLegacy(event: NostrEvent, secretKey: Uint8Array): DirectMessage | Refused {
  let text: string;
  try {
    text = decryptLegacy(secretKey, event.pubkey, event.content);
  } catch {
    return { refused: "it can't be decrypted" };
  }
  if (text.trim() === "") return { refused: "it is empty" };
  return {
    id: event.id,
    author: event.pubkey,
    text,
    sentAtSecs: event.created_at,
    protocol: "legacy",
    ...repliedTo(event.tags),
  };
}

function openWrap(wrap: NostrEvent, { secretKey, pubkey }: Omit<Identity, "npub">): DirectMessage | Refused {
  const seal = eventOf(decrypted(wrap.content, secretKey, wrap.pubkey));
  if (seal === undefined) return { refused: "it can't be decrypted" };
  if (seal.kind !== KIND.seal) return { refused: "its content is not a seal" };
  if (!isSigned(seal)) return { refused: "the signature of its seal is wrong" };
  const rumor = rumorOf(decrypted(seal.content, secretKey, seal.pubkey));
  if (rumor === undefined) return { refused: "its seal can't be opened" };
  // Anyone can seal a rumor that names another author.
  if (rumor.pubkey !== seal.pubkey) return { refused: "its seal is of another author" };
  const id = getEventHash(rumor);
  if (rumor.id !== undefined && rumor.id !== id) return { refused: "its id is another message's" };
  const receivers = new Set(
    rumor.tags.flatMap(([name, value]) => (name === "p" && value !== undefined ? [value] : [])),
  );
  receivers.delete(rumor.pubkey);
  if (rumor.pubkey !== pubkey && !receivers.has(pubkey)) return { refused: "not addressed to us" };
  if (receivers.size > 1) return { refused: "it is to several people" };
  const text = textOf(rumor);
  if (text === undefined) return { refused: "another kind of message" };
  if (text.trim() === "") return { refused: "it is empty" };
  return {
    id,
    author: rumor.pubkey,
    text,
    sentAtSecs: rumor.created_at,
    protocol: "wrapped",
    ...repliedTo(rumor.tags),
  };
}

type Unsigned = Pick<NostrEvent, "kind" | "created_at" | "tags" | "content">;
type Rumor = Unsigned & { readonly pubkey: string; readonly id?: string };

function rumorOf(value: Json | undefined): Rumor | undefined {
  const { id, pubkey, kind, created_at: atSecs, tags, content } = fieldsOf(value);
  if (!isHex(pubkey, 64) || (id !== undefined && !isHex(id, 64))) return undefined;
  const rest = unsignedPart({ kind: kind!, created_at: atSecs!, tags: tags!, content: content! });
  return rest && { pubkey, ...rest, ...(id !== undefined && { id }) };
}

function unsignedPart({ kind, created_at: atSecs, tags, content }: Fields): Unsigned | undefined {
  if (typeof kind !== "number" || !Number.isInteger(kind) || kind < 0 || kind > 65_535) return undefined;
  if (typeof atSecs !== "number" || !Number.isInteger(atSecs) || atSecs < 0 || atSecs > MAX_SECS) return undefined;
  if (typeof content !== "string" || content.length > MAX_CONTENT_CHARS) return undefined;
  if (!Array.isArray(tags) || tags.length > MAX_TAGS || !tags.every(isTag)) return undefined;
  return { kind, created_at: atSecs, tags: tags as string[][], content };
}

/** The last second that a date can have. */
const MAX_SECS = 8.64e12;

const isTag = (tag: Json): boolean =>
  Array.isArray(tag) && tag.every((part) => typeof part === "string" && part.length <= MAX_TAG_CHARS);

const isHex = (value: Json | undefined, digits: number): value is string =>
  typeof value === "string" && value.length === digits && /^[0-9a-f]+$/.test(value);

function isSigned(event: NostrEvent): boolean {
  try {
    return verifyEvent(event);
  } catch {
    return false;
  }
}

function decrypted(content: string, secretKey: Uint8Array, author: string): Json | undefined {
  try {
    return parseJson(Buffer.from(decrypt(content, getConversationKey(secretKey, author))));
  } catch {
    return undefined;
  }
}

/** For a file its type: the content is encrypted elsewhere. */
function textOf({ kind, content, tags }: Rumor): string | undefined {
  if (kind === KIND.message) return content;
  if (kind !== KIND.file) return undefined;
  const type = tags.find(([name]) => name === "file-type")?.[1] ?? "";
  return /^[a-z]+\/[a-z0-9.+-]{1,64}$/.test(type) ? `[file: ${type}]` : "[file]";
}

function repliedTo(tags: readonly string[][]): { readonly repliesTo?: string } {
  const marked = tags.findLast(([name, id]) => name === "e" && id !== undefined && isHex(id, 64))?.[1];
  return marked === undefined ? {} : { repliesTo: marked };
}

export interface Written {
  readonly text: string;
  /** Public key of the recipient. */
  readonly to: string;
  readonly atSecs: number;
  /** Id of the message that it answers. */
  readonly answers?: string | undefined;
}

/** An event of kind 4. */
export function legacyMessage({ text, to, atSecs, answers }: Written, { secretKey }: Identity): NostrEvent {
  const tags = [["p", to], ...(answers === undefined ? [] : [["e", answers, "", "reply"]])];
  const content = encryptLegacy(secretKey, to, text);
  return finalizeEvent({ kind: KIND.legacy, created_at: atSecs, tags, content }, secretKey);
}

/** One message in two wraps: for the recipient, and for our own account, where its other devices read what we wrote. */
export function wrappedMessage(
  { text, to, atSecs, answers }: Written,
  identity: Identity,
): { readonly id: string; readonly theirs: NostrEvent; readonly ours: NostrEvent } {
  const tags = [["p", to], ...(answers === undefined ? [] : [["e", answers]])];
  const rumor = { pubkey: identity.pubkey, kind: KIND.message, created_at: atSecs, tags, content: text };
  const id = getEventHash(rumor);
  const wrap = (reader: string) => wrapped(JSON.stringify({ id, ...rumor }), reader, identity, atSecs);
  return { id, theirs: wrap(to), ours: wrap(identity.pubkey) };
}

function wrapped(rumor: string, reader: string, { secretKey }: Identity, atSecs: number): NostrEvent {
  const seal = finalizeEvent(
    {
      kind: KIND.seal,
      created_at: atSecs - randomInt(SKEW_SECS),
      tags: [],
      content: encrypt(rumor, getConversationKey(secretKey, reader)),
    },
    secretKey,
  );
  const once = generateSecretKey();
  return finalizeEvent(
    {
      kind: KIND.wrap,
      created_at: atSecs - randomInt(SKEW_SECS),
      tags: [["p", reader]],
      content: encrypt(JSON.stringify(seal), getConversationKey(once, reader)),
    },
    once,
  );
}

/** What answers a relay's challenge. https://github.com/nostr-protocol/nips/blob/master/42.md */
export const authEvent = (relay: string, challenge: string, atSecs: number, { secretKey }: Identity): NostrEvent =>
  finalizeEvent(
    {
      kind: KIND.auth,
      created_at: atSecs,
      tags: [
        ["relay", relay],
        ["challenge", challenge],
      ],
      content: "",
    },
    secretKey,
  );

/** Where people find the account: the relays it reads and writes (NIP-65), and those for private messages (NIP-17). */
export const relayLists = (relays: readonly string[], atSecs: number, { secretKey }: Identity): readonly NostrEvent[] =>
  (
    [
      [KIND.relayList, "r"],
      [KIND.inboxRelays, "relay"],
    ] as const
  ).map(([kind, name]) =>
    finalizeEvent({ kind, created_at: atSecs, tags: relays.map((url) => [name, url]), content: "" }, secretKey),
  );

/** Whether a relay list is its author's own. */
export const isRelayListOf = (event: NostrEvent, author: string, kind: number): boolean =>
  event.kind === kind && event.pubkey === author && publicKeyIn(author) !== undefined && isSigned(event);
