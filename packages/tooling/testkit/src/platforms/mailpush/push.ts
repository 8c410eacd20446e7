/** What the push service posts, and how it signs. */
import type { Json, SampleDelivery } from "@svc/contract";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export interface MailpushNotification {
  /** Pub/Sub's id of it. */
  readonly id: string;
  readonly emailAddress: string;
  readonly historyId: string;
  readonly atMs: number;
}

/** `bearer`: a shared secret, or a signed token; undefined: nothing. */
export function mailpushDelivery(notification: MailpushNotification, bearer: string | undefined): SampleDelivery {
  const { id, emailAddress, historyId, atMs } = notification;
  // The number is written as one, without a float in between.
  const data = Buffer.from(`{"emailAddress":${JSON.stringify(emailAddress)},"historyId":${historyId}}`).toString(
    "base64",
  );
  const publishTime = new Date(atMs).toISOString();
  const message = { data, messageId: id, message_id: id, publishTime, publish_time: publishTime };
  return mailpushPost({ message, subscription: "projects/p/subscriptions/mail-svc" }, bearer);
}

/** Any payload, or any bytes. */
export function mailpushPost(payload: Json | Uint8Array, bearer: string | undefined): SampleDelivery {
  const headers = { "content-type": "application/json", from: "noreply@google.com" };
  const body = payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload));
  const authorized = bearer === undefined ? headers : { ...headers, authorization: `Bearer ${bearer}` };
  return { method: "POST", query: "", headers: authorized, body };
}

export interface PushSigner {
  /** As `jwks_url` serves them. */
  readonly keySet: () => Json;
  /** A token as a push carries it; `changes` in its claims or header. */
  token(claims: Readonly<Record<string, Json>>, header?: Readonly<Record<string, Json>>): string;
  /** Signs with another key from now on; the one before it is served still, `publish` the new one too. */
  rotate(publish: boolean): void;
}

/** Keys are made when they are needed first: that takes a while. */
export function createPushSigner(): PushSigner {
  const served: Key[] = [];
  let made = 0;
  let key: Key | undefined;
  const current = (): Key => {
    if (key !== undefined) return key;
    served.push((key = newKey(made++)));
    return key;
  };
  return {
    keySet: () => {
      current();
      return { keys: served.map(jwkOf) };
    },
    token(claims, header = {}) {
      const { kid, privateKey } = current();
      const part = (value: Json): string => Buffer.from(JSON.stringify(value)).toString("base64url");
      const text = `${part({ alg: "RS256", kid, typ: "JWT", ...header })}.${part(claims)}`;
      return `${text}.${sign("RSA-SHA256", Buffer.from(text), privateKey).toString("base64url")}`;
    },
    rotate(publish) {
      current();
      key = newKey(made++);
      if (publish) served.push(key);
    },
  };
}

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const newKey = (number: number): Key => ({
  kid: `key-${number}`,
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }),
});

const jwkOf = ({ kid, publicKey }: Key): Json => ({
  ...(publicKey.export({ format: "jwk" }) as Record<string, Json>),
  kid,
  alg: "RS256",
  use: "sig",
});
