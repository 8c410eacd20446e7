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
import { makeVapidKey, readVapidKey, type VapidKey } from "./encryption.ts";
import { codeOf, PushSender, readReceiver, type Receiver, receiverText, type WantedPush } from "./push-sender.ts";

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
    const kept = await secrets.get(KEY);
    if (kept !== undefined) return readVapidKey(kept);
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
