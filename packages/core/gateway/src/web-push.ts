/**
 * Push messages to browsers of operators (RFC 8030): that an approval is waiting, also while no page is open. A subscription
 * belongs to one sign-in of the page and ends with it. Best effort: the approval itself is in the database.
 */
import {
  type Clock,
  type FetchOptions,
  type FetchResult,
  type Logger,
  type SecretStore,
  SvcError,
} from "@svc/contract";
import type { EventHub, StampedEvent, Subscription as Listening } from "@svc/runtime";
import {
  type ECDH,
  type KeyObject,
  createCipheriv,
  createECDH,
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  sign,
} from "node:crypto";
import { MAX_ENDPOINT_CHARS, PushSubscription } from "@svc/api";
import { retryAfterMs } from "@svc/kit";
import { retryDelayMs } from "@svc/kit/async";
import * as v from "valibot";

export interface PushDeps {
  /** Sealed with the home's key. */
  readonly secrets: SecretStore;
  /** Guarded: refuses private addresses. */
  readonly fetch: (url: string, options: FetchOptions) => Promise<FetchResult>;
  /** Resolves where the URL leads to an address that may be connected to. Throws ADDRESS_REFUSED, REMOTE_UNREACHABLE. */
  readonly resolve: (url: string) => Promise<unknown>;
}

export interface WebPushOptions extends PushDeps {
  readonly events: Pick<EventHub, "subscribe">;
  /** Whether there is a sign-in of this id. */
  readonly isSignedIn: (id: string) => boolean;
  /** `gateway.public_url`. */
  readonly publicUrl: () => string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The subscription as a page sees it. */
export interface PagePush {
  readonly publicKey: string;
  readonly subscription: Pick<Receiver, "createdAtMs" | "details" | "lastSentAtMs" | "lastError"> | undefined;
}

/** Pages of operators: a handful of people with a handful of browsers. */
const MAX_SUBSCRIPTIONS = 50;
const KEY = "vapid";
const PREFIX = "subscription/";
const MAX_DETAIL = 300;

export class WebPush {
  readonly #options: WebPushOptions;
  /** By the id of the sign-in. */
  readonly #receivers = new Map<string, Receiver>();
  #loading: Promise<void> | undefined;
  #key: Promise<VapidKey> | undefined;
  #listening: Listening | undefined;
  readonly #stopped = new AbortController();
  readonly #sender: PushSender;

  constructor(options: WebPushOptions) {
    this.#options = options;
    this.#sender = new PushSender({
      ...options,
      key: () => this.#ownKey(),
      stopped: this.#stopped.signal,
      onGone: (id) => this.forget(id),
    });
  }

  /** Takes up the subscriptions on disk. */
  start(): void {
    this.#load().catch((cause: unknown) =>
      this.#options.log.warn("push subscriptions could not be read", { cause: codeOf(cause) }),
    );
  }

  stop(): void {
    this.#stopped.abort();
    this.#listening?.end();
  }

  /** Rejects with STORE_*, SECRET_UNREADABLE. */
  async state(signInId: string): Promise<PagePush> {
    const { publicKey } = await this.#ownKey();
    await this.#load();
    return { publicKey, subscription: this.#receivers.get(signInId) };
  }

  /** Replaces the sign-in's subscription. Rejects with ADDRESS_REFUSED, REMOTE_UNREACHABLE, PUSH_LIMIT, STORE_*. */
  async subscribe(signInId: string, wanted: WantedPush): Promise<void> {
    const { secrets, resolve, clock, isSignedIn } = this.#options;
    await this.#ownKey();
    await this.#load();
    await resolve(wanted.endpoint);
    const others = [...this.#receivers].filter(([id]) => id !== signInId);
    const again = others.filter(([, { endpoint }]) => endpoint === wanted.endpoint).map(([id]) => id);
    if (others.length - again.length >= MAX_SUBSCRIPTIONS) throw new SvcError("PUSH_LIMIT");
    const receiver: Receiver = { ...wanted, createdAtMs: clock.now(), ended: new AbortController() };
    await secrets.set(PREFIX + signInId, receiverText(receiver));
    // It may have ended while that was written.
    if (!isSignedIn(signInId)) {
      this.#remove(signInId);
      throw new SvcError("UNAUTHORIZED", "The page was signed out.");
    }
    for (const id of again) this.forget(id);
    this.#receivers.get(signInId)?.ended.abort();
    this.#receivers.set(signInId, receiver);
    this.#listen();
  }

  /** Rejects with STORE_*; from here on nothing is sent all the same. */
  async unsubscribe(signInId: string): Promise<void> {
    await this.#load();
    this.#drop(signInId);
    await this.#options.secrets.delete(PREFIX + signInId);
  }

  /** Its sign-in ended, or the push service did. */
  forget(signInId: string): void {
    // One that is not known yet is removed when it is read.
    if (!this.#receivers.has(signInId)) return;
    this.#drop(signInId);
    this.#remove(signInId);
  }

  #remove(signInId: string): void {
    this.#options.secrets.delete(PREFIX + signInId).catch((cause: unknown) =>
      // The next start finds that its sign-in is gone.
      this.#options.log.warn("a push subscription could not be removed yet", { cause: codeOf(cause) }),
    );
  }

  /** One message now, tried once. Rejects with PUSH_UNSUBSCRIBED, PUSH_FAILED. */
  async test(signInId: string): Promise<void> {
    await this.#ownKey();
    await this.#load();
    const receiver = this.#receivers.get(signInId);
    if (receiver === undefined) throw new SvcError("PUSH_UNSUBSCRIBED");
    const endsAtMs = this.#options.clock.now() + 60_000;
    const tried = await this.#sender.once(signInId, receiver, { tag: "test", details: undefined, endsAtMs });
    if (tried !== "sent") throw new SvcError("PUSH_FAILED", receiver.lastError?.message);
  }

  #drop(signInId: string): void {
    this.#receivers.get(signInId)?.ended.abort();
    this.#receivers.delete(signInId);
    if (this.#receivers.size > 0) return;
    this.#listening?.end();
    this.#listening = undefined;
  }

  #load(): Promise<void> {
    this.#loading ??= this.#read().catch((cause: unknown) => {
      this.#loading = undefined;
      throw cause;
    });
    return this.#loading;
  }

  async #read(): Promise<void> {
    const { secrets, isSignedIn, log } = this.#options;
    for (const name of await secrets.list(PREFIX)) {
      const id = name.slice(PREFIX.length);
      const text = isSignedIn(id) ? await secrets.get(name) : undefined;
      const receiver = text === undefined ? undefined : readReceiver(text);
      if (receiver && isSignedIn(id)) this.#receivers.set(id, receiver);
      else {
        log.info("a push subscription without a sign-in was removed");
        await secrets.delete(name);
      }
    }
    if (this.#receivers.size > 0) this.#listen();
  }

  /** Created on the first use; concurrent callers get the same key. */
  #ownKey(): Promise<VapidKey> {
    this.#key ??= this.#readKey().catch((cause: unknown) => {
      this.#key = undefined;
      throw cause;
    });
    return this.#key;
  }

  async #readKey(): Promise<VapidKey> {
    const { secrets } = this.#options;
    const stored = await secrets.get(KEY);
    if (stored !== undefined) return readVapidKey(stored);
    const { key, text } = makeVapidKey();
    await secrets.set(KEY, text);
    return key;
  }

  /** Publishing costs nothing while no page has subscribed. */
  #listen(): void {
    if (this.#stopped.signal.aborted) return;
    this.#listening ??= this.#options.events.subscribe({ tell: (event) => this.#tell(event), dropped: () => {} });
  }

  #tell(stamped: StampedEvent): void {
    const { event } = stamped;
    if (event.type !== "human_approval_request") return;
    // What goes out has lost its secrets as everything that subscribers see.
    const { payload } = JSON.parse(stamped.json) as { payload: { title: string } };
    const details = payload.title.slice(0, MAX_DETAIL);
    const message = { tag: `${event.runId} ${event.stepId}`, details, endsAtMs: event.expiresAtMs };
    for (const [id, receiver] of this.#receivers) {
      this.#sender.offer(id, receiver, message);
    }
  }
}

/** Sends push messages: one at a time to each browser, again where that may help, until the approval is over. */
interface PushSenderDeps {
  readonly fetch: (url: string, options: FetchOptions) => Promise<FetchResult>;
  readonly key: () => Promise<VapidKey>;
  readonly publicUrl: () => string | undefined;
  /** The push service knows the subscription no longer. */
  readonly onGone: (id: string) => void;
  readonly stopped: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After a try that may work later: four minutes on average. */
const BACKOFF = { firstMs: 2_000, longestMs: 300_000 };
const MOST_TRIES = 9;
const LONGEST_WAIT_MS = 3_600_000;
const TIMEOUT_MS = 15_000;

class PushSender {
  readonly #deps: PushSenderDeps;

  constructor(deps: PushSenderDeps) {
    this.#deps = deps;
  }

  /** A later message takes the place of one that waits: one notification says that approvals are waiting. */
  offer(id: string, receiver: Receiver, message: PushMessage): void {
    receiver.next = message;
    if (!receiver.isBusy) void this.#pump(id, receiver);
  }

  async #pump(id: string, receiver: Receiver): Promise<void> {
    receiver.isBusy = true;
    try {
      while (receiver.next && !this.#isOver(receiver)) {
        const message = receiver.next;
        receiver.next = undefined;
        await this.#deliver(id, receiver, message);
      }
    } finally {
      receiver.isBusy = false;
    }
  }

  async #deliver(id: string, receiver: Receiver, message: PushMessage): Promise<void> {
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const tried = await this.once(id, receiver, message);
      if (tried === "sent" || tried === "refused" || tries === MOST_TRIES) return;
      const askedMs = Math.min(tried.retryAfterMs ?? 0, LONGEST_WAIT_MS);
      const waitMs = retryDelayMs(tries, BACKOFF, { askedMs });
      if (this.#deps.clock.now() + waitMs >= message.endsAtMs) return;
      await this.#wait(waitMs, receiver);
      if (this.#isOver(receiver)) return;
    }
  }

  /** One try. */
  async once(
    id: string,
    receiver: Receiver,
    message: PushMessage,
  ): Promise<"sent" | "refused" | { retryAfterMs?: number }> {
    const { fetch, clock, log, publicUrl, onGone } = this.#deps;
    const { origin, hostname } = new URL(receiver.endpoint);
    const failed = (text: string): void => {
      receiver.lastError = { atMs: clock.now(), message: text };
      log.warn("a push message was not taken", { service: hostname, reason: text });
    };
    try {
      const key = await this.#deps.key();
      const shown = receiver.details ? message.details : undefined;
      const { status, headers } = await fetch(receiver.endpoint, {
        method: "POST",
        headers: {
          authorization: vapidHeader(key, origin, contactOf(publicUrl()), clock.now()),
          "content-type": "application/octet-stream",
          "content-encoding": "aes128gcm",
          ttl: String(Math.min(86_400, Math.max(60, Math.ceil((message.endsAtMs - clock.now()) / 1000)))),
          urgency: "high",
          topic: createHash("sha256").update(message.tag).digest("base64url").slice(0, 32),
        },
        body: encryptPush(
          JSON.stringify({ tag: message.tag, ...(shown !== undefined && { details: shown }) }),
          receiver,
        ),
        redirects: "none",
        timeoutMs: TIMEOUT_MS,
        maxBytes: 4096,
        signal: AbortSignal.any([receiver.ended.signal, this.#deps.stopped]),
      });
      if (status >= 200 && status < 300) {
        receiver.lastSentAtMs = clock.now();
        receiver.lastError = undefined;
        return "sent";
      }
      if (status === 404 || status === 410) {
        failed("The push service ended this subscription.");
        onGone(id);
        return "refused";
      }
      failed(`The push service answered ${status}.`);
      if (status !== 429 && status < 500) return "refused";
      const waitMs = retryAfterMs(headers["retry-after"], clock.now());
      return waitMs === undefined ? {} : { retryAfterMs: waitMs };
    } catch (cause) {
      if (this.#isOver(receiver)) return "refused";
      const code = codeOf(cause);
      failed(WHY[code] ?? `The push service could not be reached (${code}).`);
      return code === "ADDRESS_REFUSED" ? "refused" : {};
    }
  }

  #isOver(receiver: Receiver): boolean {
    return receiver.ended.signal.aborted || this.#deps.stopped.aborted;
  }

  #wait(waitMs: number, { ended }: Receiver): Promise<void> {
    const either = AbortSignal.any([ended.signal, this.#deps.stopped]);
    return this.#deps.clock.sleep(waitMs, either).catch(() => undefined);
  }
}

const WHY: Readonly<Record<string, string>> = {
  ADDRESS_REFUSED: "The push service has a private address, and such addresses are refused.",
  REMOTE_TIMEOUT: "The push service did not answer in time.",
  REMOTE_UNREACHABLE: "The push service could not be reached.",
};

const codeOf = (cause: unknown): string => (cause instanceof SvcError ? cause.code : "INTERNAL");

/** Some services refuse a token without one. */
const contactOf = (publicUrl: string | undefined): string =>
  publicUrl?.startsWith("https://") ? new URL(publicUrl).origin : "mailto:operator@example.com";

// A browser that subscribed, as it is kept and as it is served.

/** What a page asks for. */
interface WantedPush extends PushKeys {
  /** A secret: anyone who knows it can send to this browser. */
  readonly endpoint: string;
  /** Whether notifications may show the request itself, also on a locked screen. */
  readonly details: boolean;
}

interface PushMessage {
  /** A notification takes the place of another of the same tag. */
  readonly tag: string;
  /** Shown only to those who asked for it. */
  readonly details: string | undefined;
  readonly endsAtMs: number;
}

interface Receiver extends WantedPush {
  readonly createdAtMs: number;
  /** Aborted: nothing more is sent. */
  readonly ended: AbortController;
  /** Waits until the current message is sent. */
  next?: PushMessage | undefined;
  isBusy?: boolean;
  lastSentAtMs?: number;
  lastError?: { readonly atMs: number; readonly message: string } | undefined;
}

/** https, without credentials: anything else is no endpoint of a push service. */
function isPushEndpoint(text: string): boolean {
  if (text.length > MAX_ENDPOINT_CHARS || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return protocol === "https:" && username === "" && password === "" && hash === "";
}

/** Throws BAD_REQUEST for what no browser makes. */
export function wantedOf({ endpoint, keys, details }: PushSubscription): WantedPush {
  const wanted = { endpoint, details, ...keysOf(keys) };
  if (isPushEndpoint(endpoint) && isPushKeys(wanted)) return wanted;
  throw new SvcError("BAD_REQUEST", "This is no push subscription of a browser.");
}

const keysOf = ({ p256dh, auth }: { readonly p256dh: string; readonly auth: string }): PushKeys => ({
  p256dh: Buffer.from(p256dh, "base64url"),
  auth: Buffer.from(auth, "base64url"),
});

const STORED = v.intersect([PushSubscription, v.object({ createdAtMs: v.number() })]);

function receiverText({ endpoint, p256dh, auth, details, createdAtMs }: Receiver): string {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
  return JSON.stringify({ endpoint, keys: { p256dh: text(p256dh), auth: text(auth) }, details, createdAtMs });
}

/** undefined: another version wrote it. */
function readReceiver(text: string): Receiver | undefined {
  const parsed = v.safeParse(STORED, JSON.parse(text));
  if (!parsed.success) return undefined;
  return { ...wantedOf(parsed.output), createdAtMs: parsed.output.createdAtMs, ended: new AbortController() };
}

// A push message as only the browser that subscribed can read it: RFC 8291, one record of `aes128gcm` (RFC 8188).

/** What a browser hands over with its subscription. */
interface PushKeys {
  /** Its point on P-256, uncompressed: 65 bytes. */
  readonly p256dh: Uint8Array;
  /** 16 bytes that only the page and the browser know. */
  readonly auth: Uint8Array;
}

/** Of the vectors of the RFC; everything else takes random ones. */
interface FixedSecrets {
  readonly privateKey: Uint8Array;
  readonly salt: Uint8Array;
}

/** Push services refuse larger bodies (RFC 8030, 7.2); header, delimiter and tag take 103 of them. */
export const MAX_PLAIN_BYTES = 4096 - 103;
const RECORD_BYTES = 4096;
const CURVE = "prime256v1";
/** Ends the last record. */
const DELIMITER = 2;

/** Throws when `p256dh` is no point of the curve. */
export function encryptPush(text: string, { p256dh, auth }: PushKeys, fixed?: FixedSecrets): Buffer {
  const plain = Buffer.from(text);
  if (plain.length > MAX_PLAIN_BYTES) throw new RangeError("A push message has at most 3993 bytes.");
  const own = ownKey(fixed);
  const salt = fixed?.salt ?? randomBytes(16);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), p256dh, own.getPublicKey()]);
  const secret = derived(own.computeSecret(p256dh), auth, info, 32);
  const key = derived(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derived(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const record = Buffer.concat([cipher.update(plain), cipher.update(Buffer.of(DELIMITER)), cipher.final()]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(RECORD_BYTES);
  head.writeUInt8(own.getPublicKey().length, 4);
  return Buffer.concat([salt, head, own.getPublicKey(), record, cipher.getAuthTag()]);
}

/** Whether a browser can have made them: the lengths are right, and the point is on the curve. */
export function isPushKeys({ p256dh, auth }: PushKeys): boolean {
  if (p256dh.length !== 65 || p256dh[0] !== 4 || auth.length !== 16) return false;
  try {
    ownKey().computeSecret(p256dh);
    return true;
  } catch {
    return false;
  }
}

/** One message, one key. */
function ownKey(fixed?: FixedSecrets): ECDH {
  const own = createECDH(CURVE);
  if (fixed) own.setPrivateKey(fixed.privateKey);
  else own.generateKeys();
  return own;
}

const derived = (secret: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, info, length));

// Who sends: a push service takes messages of a subscription only from the key it was made for (RFC 8292).

interface VapidKey {
  /** Uncompressed point, base64url: what a page subscribes with. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** The text goes into the encrypted store. */
export function makeVapidKey(): { readonly key: VapidKey; readonly text: string } {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const text = JSON.stringify(privateKey.export({ format: "jwk" }));
  return { key: readVapidKey(text), text };
}

const JWK = v.object({
  kty: v.literal("EC"),
  crv: v.literal("P-256"),
  x: v.string(),
  y: v.string(),
  d: v.string(),
});

/** Throws for anything that `makeVapidKey` did not write. */
export function readVapidKey(text: string): VapidKey {
  const jwk = v.parse(JWK, JSON.parse(text));
  const point = Buffer.concat([Buffer.of(4), Buffer.from(jwk.x, "base64url"), Buffer.from(jwk.y, "base64url")]);
  return {
    publicKey: point.toString("base64url"),
    privateKey: createPrivateKey({ key: jwk, format: "jwk" }),
  };
}

/** At most a day is allowed; a clock that is some hours off must not matter. */
const TOKEN_SECS = 12 * 3600;

/** The header `Authorization` for one push service. `contact`: a URL by which its operator reaches the sender. */
export function vapidHeader(
  { publicKey, privateKey }: VapidKey,
  audience: string,
  contact: string,
  nowMs: number,
): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { aud: audience, exp: Math.floor(nowMs / 1000) + TOKEN_SECS, sub: contact };
  const signed = `${part({ typ: "JWT", alg: "ES256" })}.${part(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `vapid t=${signed}.${signature.toString("base64url")}, k=${publicKey}`;
}
