/** A browser that subscribed, as it is kept and as it is served. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import { isPushKeys, type PushKeys } from "./encrypt.ts";

/** What a page asks for. */
export interface WantedPush extends PushKeys {
  /** Who knows it can send to this browser: a secret. */
  readonly endpoint: string;
  /** What is asked may be shown, also on a locked screen. */
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
  /** Waits for the one that is being sent. */
  next?: PushMessage | undefined;
  isBusy?: boolean;
  lastSentAtMs?: number;
  lastError?: { readonly atMs: number; readonly message: string } | undefined;
}

const MAX_ENDPOINT = 1024;

/** https, without credentials: anything else is no endpoint of a push service. */
function isPushEndpoint(text: string): boolean {
  if (text.length > MAX_ENDPOINT || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return protocol === "https:" && username === "" && password === "" && hash === "";
}

const base64url = (length: number) => v.pipe(v.string(), v.maxLength(length), v.regex(/^[\w-]+=*$/));

/** As a browser's `PushSubscription.toJSON()` is. */
export const SUBSCRIPTION = v.object({
  endpoint: v.pipe(v.string(), v.maxLength(MAX_ENDPOINT), v.regex(/^https:\/\//), v.description("An https URL.")),
  keys: v.object({
    p256dh: v.pipe(base64url(100), v.description("The browser's public key.")),
    auth: v.pipe(base64url(32), v.description("The browser's secret.")),
  }),
  details: v.optional(
    v.pipe(v.boolean(), v.description("Send what is asked, too; a locked screen shows it. Default: false.")),
    false,
  ),
});

/** Throws BAD_REQUEST for what no browser makes. */
export function wantedOf({ endpoint, keys, details }: v.InferOutput<typeof SUBSCRIPTION>): WantedPush {
  const wanted = { endpoint, details, ...keysOf(keys) };
  if (isPushEndpoint(endpoint) && isPushKeys(wanted)) return wanted;
  throw new SvcError("BAD_REQUEST", "This is no push subscription of a browser.");
}

const keysOf = ({ p256dh, auth }: { readonly p256dh: string; readonly auth: string }): PushKeys => ({
  p256dh: Buffer.from(p256dh, "base64url"),
  auth: Buffer.from(auth, "base64url"),
});

const KEPT = v.intersect([SUBSCRIPTION, v.object({ createdAtMs: v.number() })]);

export function receiverText({ endpoint, p256dh, auth, details, createdAtMs }: Receiver): string {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
  return JSON.stringify({ endpoint, keys: { p256dh: text(p256dh), auth: text(auth) }, details, createdAtMs });
}

/** undefined: another version wrote it. */
export function readReceiver(text: string): Receiver | undefined {
  const parsed = v.safeParse(KEPT, JSON.parse(text));
  if (!parsed.success) return undefined;
  return { ...wantedOf(parsed.output), createdAtMs: parsed.output.createdAtMs, ended: new AbortController() };
}
