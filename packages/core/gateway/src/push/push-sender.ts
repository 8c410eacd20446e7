/** Sends push messages: one at a time to each browser, again where that may help, until the approval is over. */
import { createHash } from "node:crypto";
import { MAX_ENDPOINT_CHARS, PushSubscription } from "@svc/api";
import { type Clock, type FetchOptions, type FetchResult, type Logger, SvcError } from "@svc/contract";
import { retryAfterMs } from "@svc/kit";
import * as v from "valibot";
import { encryptPush, isPushKeys, type PushKeys, vapidHeader, type VapidKey } from "./encryption.ts";

export interface PushSenderDeps {
  readonly fetch: (url: string, options: FetchOptions) => Promise<FetchResult>;
  readonly key: () => Promise<VapidKey>;
  readonly publicUrl: () => string | undefined;
  /** The push service knows the subscription no longer. */
  readonly onGone: (id: string) => void;
  readonly stopped: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After a try that may work later. */
const RETRY_MS: readonly number[] = [2_000, 15_000, 60_000, 300_000];
const LONGEST_WAIT_MS = 3_600_000;
const TIMEOUT_MS = 15_000;

export class PushSender {
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
    for (const backOffMs of [...RETRY_MS, undefined]) {
      const tried = await this.once(id, receiver, message);
      if (tried === "sent" || tried === "refused" || backOffMs === undefined) return;
      const waitMs = Math.min(Math.max(backOffMs, tried.retryAfterMs ?? 0), LONGEST_WAIT_MS);
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
    return new Promise((resolve) => {
      const signals = [ended.signal, this.#deps.stopped];
      const done = (): void => {
        cancel();
        for (const signal of signals) signal.removeEventListener("abort", done);
        resolve();
      };
      const cancel = this.#deps.clock.after(waitMs, done);
      for (const signal of signals) signal.addEventListener("abort", done);
    });
  }
}

const WHY: Readonly<Record<string, string>> = {
  ADDRESS_REFUSED: "The push service has a private address, and such addresses are refused.",
  REMOTE_TIMEOUT: "The push service did not answer in time.",
  REMOTE_UNREACHABLE: "The push service could not be reached.",
};

export const codeOf = (cause: unknown): string => (cause instanceof SvcError ? cause.code : "INTERNAL");

/** Some services refuse a token without one. */
const contactOf = (publicUrl: string | undefined): string =>
  publicUrl?.startsWith("https://") ? new URL(publicUrl).origin : "mailto:operator@example.com";

// A browser that subscribed, as it is kept and as it is served.

/** What a page asks for. */
export interface WantedPush extends PushKeys {
  /** A secret: anyone who knows it can send to this browser. */
  readonly endpoint: string;
  /** Whether notifications may show the request itself, also on a locked screen. */
  readonly details: boolean;
}

export interface PushMessage {
  /** A notification takes the place of another of the same tag. */
  readonly tag: string;
  /** Shown only to those who asked for it. */
  readonly details: string | undefined;
  readonly endsAtMs: number;
}

export interface Receiver extends WantedPush {
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

export function receiverText({ endpoint, p256dh, auth, details, createdAtMs }: Receiver): string {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
  return JSON.stringify({ endpoint, keys: { p256dh: text(p256dh), auth: text(auth) }, details, createdAtMs });
}

/** undefined: another version wrote it. */
export function readReceiver(text: string): Receiver | undefined {
  const parsed = v.safeParse(STORED, JSON.parse(text));
  if (!parsed.success) return undefined;
  return { ...wantedOf(parsed.output), createdAtMs: parsed.output.createdAtMs, ended: new AbortController() };
}
