/**
 * The mode "webhook": the platform posts JSON, encrypted and signed where the app has an Encrypt Key.
 * https://open.larksuite.com/document/server-docs/event-subscription-guide/event-subscription-configure-/request-url-configuration-case
 *
 *     X-Lark-Signature = hex(SHA-256(X-Lark-Request-Timestamp + X-Lark-Request-Nonce + encrypt_key + body))
 *     {"encrypt": base64(IV + AES-256-CBC(SHA-256(encrypt_key), IV, PKCS#7 padded JSON))}
 */
import { createDecipheriv, createCipheriv, createHash, hash, timingSafeEqual } from "node:crypto";
import {
  type Ingress,
  type Json,
  type Parsed,
  type RawRequest,
  type SampleDelivery,
  type SampleMessage,
  SvcError,
  type Verdict,
} from "@svc/contract";
import { equalSecrets, fieldsOf, parseJson, textOf } from "@svc/kit";
import { type Config, setSecret } from "./config.ts";
import { inboundOf, type Reader } from "./events.ts";
import { personId } from "./ids.ts";

const WINDOW_MS = 300_000;
/** A challenge is one line; a larger body is decrypted only with a valid signature. */
const CHALLENGE_BYTES = 4_096;
const IV_BYTES = 16;

export type WebhookConfig = Pick<Config, "app_id" | "encrypt_key" | "verification_token" | "allowed_users">;

export function ingressOf(path: string, config: WebhookConfig, reader: Reader): Ingress {
  const key = setSecret(config.encrypt_key);
  return {
    path,
    methods: ["POST"],
    signed: key !== undefined,
    verify: (request) => verified(request, key, setSecret(config.verification_token)),
    parse: (request) => parsed(request, key, reader),
    sample: (message) => sampleOf(message, config),
  };
}

function verified(request: RawRequest, key: string | undefined, token: string | undefined): Verdict {
  if (key === undefined) {
    if (token === undefined) return { ok: true };
    return hasToken(payloadOf(request.body, undefined), token) ? { ok: true } : badToken();
  }
  const signed = signatureOf(request, key);
  if (typeof signed === "string") {
    const payload =
      isUnsigned(request) && request.body.length <= CHALLENGE_BYTES ? payloadOf(request.body, key) : undefined;
    // The platform signs no challenge; that it is encrypted with the key proves as much.
    const isChallenge = payload !== undefined && challengeIn(payload) !== undefined && isEncrypted(request.body);
    if (!isChallenge) return { ok: false, code: "BAD_SIGNATURE", why: signed };
    return token === undefined || hasToken(payload, token) ? { ok: true } : badToken();
  }
  const payload = payloadOf(request.body, key);
  // What can't be read at all is refused as such.
  if (token !== undefined && payload !== undefined && !hasToken(payload, token)) return badToken();
  return { ok: true, once: signed.nonce };
}

const badToken = (): Verdict => ({
  ok: false,
  code: "UNAUTHORIZED",
  why: "the verification token is missing or wrong",
});

const SIGNATURE = "x-lark-signature";
const TIMESTAMP = "x-lark-request-timestamp";
const NONCE = "x-lark-request-nonce";

const isUnsigned = ({ headers }: RawRequest): boolean =>
  [SIGNATURE, TIMESTAMP, NONCE].every((name) => headers[name] === undefined);

/** A text: why it is none. */
function signatureOf({ headers, body, receivedAtMs }: RawRequest, key: string): string | { readonly nonce: string } {
  const [timestamp, nonce, signature] = [TIMESTAMP, NONCE, SIGNATURE].map((name) => headers[name] ?? "") as [
    string,
    string,
    string,
  ];
  if (!/^\d{10}$/.test(timestamp)) return "the timestamp is missing, or is no time in seconds";
  // With another sign in it the same digits could be a shorter nonce and a longer key, or the other way round.
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(nonce)) return "the nonce is missing or malformed";
  if (!/^[0-9a-f]{64}$/i.test(signature)) return "the signature is missing or malformed";
  if (Math.abs(receivedAtMs - Number(timestamp) * 1000) > WINDOW_MS) return "the timestamp is more than 300 s off";
  const digest = createHash("sha256")
    .update(timestamp + nonce + key)
    .update(body)
    .digest();
  if (!timingSafeEqual(digest, Buffer.from(signature, "hex"))) return "the signature is wrong";
  return { nonce: `${timestamp} ${nonce}` };
}

/** The JSON that was posted, decrypted where it is encrypted; undefined: it can't be read. */
function payloadOf(body: Uint8Array, key: string | undefined): Json | undefined {
  const outer = parseJson(body);
  const sealed = fieldsOf(outer)["encrypt"];
  if (typeof sealed !== "string") return outer;
  if (key === undefined) return undefined;
  const opened = decrypted(sealed, key);
  return opened && parseJson(opened);
}

const isEncrypted = (body: Uint8Array): boolean => typeof fieldsOf(parseJson(body))["encrypt"] === "string";

/** Undefined for what was not encrypted with this key. */
export function decrypted(sealed: string, key: string): Buffer | undefined {
  const bytes = Buffer.from(sealed, "base64");
  if (bytes.length < 2 * IV_BYTES || bytes.length % IV_BYTES !== 0) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-cbc", hash("sha256", key, "buffer"), bytes.subarray(0, IV_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** In events of version 2 in the header, else at the top. */
const hasToken = (payload: Json | undefined, token: string): boolean =>
  equalSecrets(textOf(fieldsOf(fieldsOf(payload)["header"])["token"]) ?? textOf(fieldsOf(payload)["token"]), token);

/**
 * It is handed back. Blocks of a recorded callback that are spliced into an encrypted challenge have a block of noise beside them, and
 * must not be read out in the answer: hence these signs alone.
 */
const CHALLENGE = /^[\w.~+/=-]{1,256}$/;

function challengeIn(payload: Json): string | undefined {
  const { type, challenge } = fieldsOf(payload);
  return type === "url_verification" && typeof challenge === "string" && CHALLENGE.test(challenge)
    ? challenge
    : undefined;
}

function parsed({ body }: RawRequest, key: string | undefined, reader: Reader): Parsed {
  const payload = payloadOf(body, key);
  if (payload === undefined) throw new SvcError("BAD_JSON");
  const challenge = challengeIn(payload);
  if (challenge !== undefined) return { reply: jsonReply({ challenge }) };
  const inbound = inboundOf(payload, reader);
  // The platform shows any other body to the person who pressed.
  const isPress = fieldsOf(fieldsOf(payload)["header"])["event_type"] === "card.action.trigger";
  return { inbound: inbound === undefined ? [] : [inbound], ...(isPress && { reply: jsonReply({}) }) };
}

const jsonReply = (body: Json) => ({ status: 200, contentType: "application/json", body: JSON.stringify(body) });

/** An id that no account has. */
const EXAMPLE_SENDER = `ou_${"0".repeat(32)}`;

/** For `svc webhook send`. */
function sampleOf({ text, from, id, atMs }: SampleMessage, config: WebhookConfig): SampleDelivery {
  const person = from ?? config.allowed_users.find((entry) => personId(entry) !== undefined) ?? EXAMPLE_SENDER;
  const [key, token] = [setSecret(config.encrypt_key), setSecret(config.verification_token)];
  const part = hash("sha256", id, "hex").slice(0, 32);
  const payload = {
    schema: "2.0",
    header: {
      event_id: part,
      event_type: "im.message.receive_v1",
      create_time: String(atMs),
      token: token ?? "",
      app_id: config.app_id,
      tenant_key: "sample",
    },
    event: {
      sender: { sender_id: { open_id: person }, sender_type: "user", tenant_key: "sample" },
      message: {
        message_id: `om_${part}`,
        create_time: String(atMs),
        chat_id: `oc_${hash("sha256", person, "hex").slice(0, 32)}`,
        chat_type: "p2p",
        message_type: "text",
        content: JSON.stringify({ text }),
      },
    },
  };
  const plain = Buffer.from(JSON.stringify(payload));
  const body = key === undefined ? plain : Buffer.from(JSON.stringify({ encrypt: encrypted(plain, key, part) }));
  const timestamp = String(Math.floor(atMs / 1000));
  const signature =
    key &&
    createHash("sha256")
      .update(timestamp + part + key)
      .update(body)
      .digest("hex");
  return {
    method: "POST",
    query: "",
    headers: {
      "content-type": "application/json",
      ...(signature !== undefined && { [TIMESTAMP]: timestamp, [NONCE]: part, [SIGNATURE]: signature }),
    },
    body,
  };
}

/** `seed`: what the IV is made of. Each sample has another, and says nothing that has to stay hidden. */
function encrypted(plain: Uint8Array, key: string, seed: string): string {
  const iv = hash("sha256", seed, "buffer").subarray(0, IV_BYTES);
  const cipher = createCipheriv("aes-256-cbc", hash("sha256", key, "buffer"), iv);
  return Buffer.concat([iv, cipher.update(plain), cipher.final()]).toString("base64");
}
