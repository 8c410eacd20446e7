/** The section of the config, and the two ways to write a key: 64 hexadecimal digits, or bech32 (`npub1…`, `nsec1…`). */
import { channelKeys, secret } from "@svc/contract";
import { bech32 } from "@scure/base";
import * as v from "valibot";

/** The channel's id: the last part of the section's name. */
export const CHANNEL = "relaynet";

const MAX_RELAYS = 20;
const MAX_URL_CHARS = 512;

/** As people see it in their apps, however it is written. */
const npubOr = (text: string): string => npubIn(text) ?? text.trim();

const publicKey = (others: readonly string[] = []) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => others.includes(text.trim()) || npubIn(text) !== undefined,
      "a public key: npub1… or 64 hexadecimal digits",
    ),
    v.transform(npubOr),
  );

export const config = v.strictObject({
  private_key: v.pipe(
    secret({ env: "SVC_RELAYNET_PRIVATE_KEY", generate: true, highValue: true }),
    v.trim(),
    v.check((text) => secretKeyIn(text) !== undefined, "a private key: nsec1… or 64 hexadecimal digits"),
    v.description("Private key of the agent's account, nsec1… or 64 hexadecimal digits. Keep secrets.encrypt on."),
  ),
  relays: v.pipe(
    v.array(
      v.pipe(
        v.string(),
        v.trim(),
        v.check(
          isRelayUrl,
          "a wss:// URL; ws:// only to loopback, or to a private address in security.net.allow_private",
        ),
      ),
    ),
    v.minLength(1, "at least one relay"),
    v.maxLength(MAX_RELAYS, `at most ${MAX_RELAYS} relays`),
    v.description("Relays that the account reads from and writes to, such as wss://relay.example.org."),
    v.transform((urls) => [...new Set(urls.map(relayUrl))]),
  ),
  allowed_pubkeys: v.optional(
    v.pipe(
      v.array(publicKey(["*"])),
      v.description(
        "Public keys (npub1… or 64 hexadecimal digits) that may write to the agent; * lets everyone. Empty: no one.",
      ),
    ),
    [],
  ),
  ...channelKeys,
  approvers: v.optional(
    v.pipe(
      v.array(publicKey()),
      v.description("Public keys that may answer approval requests in this channel. Default: none."),
    ),
    [],
  ),
  notification_target: v.optional(
    v.pipe(publicKey(), v.description("Public key for notifications and approval requests.")),
  ),
  allowed_targets: v.optional(
    v.pipe(
      v.array(publicKey(["*"])),
      v.description(
        "Public keys that the agent may write to with channel_send; * is any. People who wrote to the agent, and notification_target, need not be listed.",
      ),
    ),
    [],
  ),
});

export type Config = v.InferOutput<typeof config>;

/** One spelling of a relay's URL, by which it is known in the account's state. */
export const relayUrl = (text: string): string => new URL(text.trim()).href.replace(/\/$/, "");

/** A URL that a connection may be opened to as far as its text tells; where its name leads is checked with each connection. */
export function isRelayUrl(text: string): boolean {
  if (text.length > MAX_URL_CHARS || /[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return (protocol === "wss:" || protocol === "ws:") && username === "" && password === "" && hash === "";
}

/** The public key as hex; undefined for any other text. */
export function publicKeyIn(text: string): string | undefined {
  const hex = keyIn(text, "npub");
  return hex !== undefined && isOnCurve(hex) ? hex : undefined;
}

export const npubOf = (hex: string): string => bech32.encodeFromBytes("npub", Buffer.from(hex, "hex"));

const npubIn = (text: string): string | undefined => {
  const hex = publicKeyIn(text);
  return hex === undefined ? undefined : npubOf(hex);
};

/** The private key; undefined for any other text. */
export function secretKeyIn(text: string): Uint8Array | undefined {
  const hex = keyIn(text, "nsec");
  if (hex === undefined) return undefined;
  const number = BigInt(`0x${hex}`);
  return number > 0n && number < ORDER ? Buffer.from(hex, "hex") : undefined;
}

function keyIn(text: string, prefix: "npub" | "nsec"): string | undefined {
  const written = text.trim().toLowerCase();
  if (/^[0-9a-f]{64}$/.test(written)) return written;
  try {
    const { prefix: found, bytes } = bech32.decodeToBytes(written);
    return found === prefix && bytes.length === 32 ? Buffer.from(bytes).toString("hex") : undefined;
  } catch {
    return undefined;
  }
}

/** secp256k1: the number of keys, and the field that points are over. https://www.secg.org/sec2-v2.pdf, 2.4.1 */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const FIELD = 2n ** 256n - 2n ** 32n - 977n;

/** Half of all numbers are no public key: a mistyped hexadecimal one is noticed every second time. */
function isOnCurve(hex: string): boolean {
  const x = BigInt(`0x${hex}`);
  if (x === 0n || x >= FIELD) return false;
  // Euler's criterion: the square of y is a square.
  let [base, exponent, power] = [(x ** 3n + 7n) % FIELD, (FIELD - 1n) / 2n, 1n];
  for (; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) power = (power * base) % FIELD;
    base = (base * base) % FIELD;
  }
  return power === 1n;
}
