/** People of a relay network with apps of their own, made of nostr-tools and none of the channel's code; and forgers. */
import { hash, randomInt } from "node:crypto";
import { decrypt, encrypt } from "nostr-tools/nip04";
import { npubEncode, nsecEncode } from "nostr-tools/nip19";
import { encrypt as encryptWrap, getConversationKey } from "nostr-tools/nip44";
import { createRumor, createSeal, unwrapEvent } from "nostr-tools/nip59";
import { finalizeEvent, generateSecretKey, getEventHash, getPublicKey, type NostrEvent } from "nostr-tools/pure";

export type { NostrEvent as RelaynetEvent } from "nostr-tools/pure";

export interface RelaynetPerson {
  readonly secretKey: Uint8Array;
  readonly pubkey: string;
  readonly npub: string;
  readonly nsec: string;
}

/** The same for the same name. */
export function relaynetPerson(name: string): RelaynetPerson {
  const secretKey = new Uint8Array(hash("sha256", `relaynet ${name}`, "buffer"));
  const pubkey = getPublicKey(secretKey);
  return { secretKey, pubkey, npub: npubEncode(pubkey), nsec: nsecEncode(secretKey) };
}

export type RelaynetProtocol = "legacy" | "wrapped";

export interface RelaynetMessage {
  readonly from: RelaynetPerson;
  /** Public key. */
  readonly to: string;
  readonly text: string;
  readonly atMs: number;
  readonly protocol: RelaynetProtocol;
  /** Id of a message that it replies to. */
  readonly answers?: string;
  /** By how many seconds the wrap lies back. Default: at random, up to two days before the message. */
  readonly skewSecs?: number;
}

/** The event that an app publishes. */
export function relaynetEvent({ from, to, text, atMs, protocol, answers, skewSecs }: RelaynetMessage): NostrEvent {
  const atSecs = Math.floor(atMs / 1000);
  const tags = [["p", to], ...(answers === undefined ? [] : [["e", answers, "", "reply"]])];
  if (protocol === "legacy") {
    const content = encrypt(from.secretKey, to, text);
    return finalizeEvent({ kind: 4, created_at: atSecs, tags, content }, from.secretKey);
  }
  const rumor = createRumor({ kind: 14, created_at: atSecs, tags, content: text }, from.secretKey);
  return relaynetWrap(rumor, from, to, atSecs - (skewSecs ?? randomInt(172_000)));
}

/** What its author says, in a seal of `sealedBy` (who should be the author), in a wrap of that time. */
export function relaynetWrap(rumor: object, sealedBy: RelaynetPerson, to: string, wrapSecs: number): NostrEvent {
  const seal = createSeal(rumor as Parameters<typeof createSeal>[0], sealedBy.secretKey, to);
  const once = generateSecretKey();
  const content = encryptWrap(JSON.stringify(seal), getConversationKey(once, to));
  return finalizeEvent({ kind: 1059, created_at: wrapSecs, tags: [["p", to]], content }, once);
}

/** Forgeries of a genuine message, made without the author's key. */
export function relaynetForgeries(message: RelaynetMessage, text: string): readonly NostrEvent[] {
  const { from: victim, to, atMs } = message;
  const forger = relaynetPerson("forger");
  const atSecs = Math.floor(atMs / 1000);
  const genuine = relaynetEvent(message);
  const other = relaynetEvent({ ...message, from: forger, text });
  const legacy = { ...relaynetEvent({ ...message, from: forger, text, protocol: "legacy" }), pubkey: victim.pubkey };
  const rumor = createRumor({ kind: 14, created_at: atSecs, tags: [["p", to]], content: text }, victim.secretKey);
  const seal = { ...createSeal(rumor, forger.secretKey, to), pubkey: victim.pubkey };
  const once = generateSecretKey();
  const misSealed = encryptWrap(JSON.stringify(seal), getConversationKey(once, to));
  return [
    // The id of a genuine message over another text.
    { ...other, id: genuine.id, pubkey: genuine.pubkey },
    // Another text under the genuine signature.
    { ...genuine, content: other.content },
    // The id is right, the signature is from another key.
    { ...legacy, id: getEventHash(legacy) },
    // The victim's words, as the forger has them, in the forger's seal.
    relaynetWrap(rumor, forger, to, atSecs),
    // A seal in the victim's name that the victim has not signed.
    finalizeEvent({ kind: 1059, created_at: atSecs, tags: [["p", to]], content: misSealed }, once),
  ];
}

/** What a person reads in an event; undefined for what is not to them. */
export function relaynetRead(
  event: NostrEvent,
  reader: RelaynetPerson,
):
  | { readonly id: string; readonly from: string; readonly text: string; readonly protocol: RelaynetProtocol }
  | undefined {
  if (!event.tags.some(([name, value]) => name === "p" && value === reader.pubkey)) return undefined;
  if (event.kind === 4) {
    const text = decrypt(reader.secretKey, event.pubkey, event.content);
    return { id: event.id, from: event.pubkey, text, protocol: "legacy" };
  }
  if (event.kind !== 1059) return undefined;
  const { id, pubkey, content } = unwrapEvent(event, reader.secretKey);
  return { id, from: pubkey, text: content, protocol: "wrapped" };
}
