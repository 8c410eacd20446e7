/**
 * The keys with which pushes are signed. An ingress can't wait for them, so that the channel's loop fetches them: at
 * start, when they grow old, and when a push is signed with one that is not there.
 */
import { createPublicKey, type KeyObject } from "node:crypto";
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { platformCall } from "@svc/kit";
import * as v from "valibot";
import type { Config } from "../config.ts";

export interface SigningKeys {
  /** By key id. */
  find(kid: string): KeyObject | undefined;
  /** Asks for newer ones, now and then: key ids are made up in no time. False when these have just come. */
  ask(): boolean;
  /** When the loop has to fetch them; 0: now. Infinity: nobody needs any. */
  readonly dueAtMs: number;
  /** Resolves when somebody asked. */
  asked(signal: AbortSignal): Promise<void>;
  fetch(signal: AbortSignal): Promise<void>;
}

const MIN_AGE_MS = 60_000;
/** Between two attempts, however often somebody asks. */
const PAUSE_MS = 10_000;
const DEFAULT_AGE_MS = 3_600_000;
const MAX_AGE_MS = 86_400_000;
/** Fewer bits can be broken. */
const MIN_BITS = 2048;

export function createSigningKeys({ config, fetch, clock }: FeatureContext<Config>): SigningKeys {
  const areNeeded = Boolean(config.push_audience?.trim());
  let keys: ReadonlyMap<string, KeyObject> = new Map();
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let fetchedAtMs = Number.NEGATIVE_INFINITY;
  let dueAtMs = areNeeded ? 0 : Number.POSITIVE_INFINITY;
  let waiting: PromiseWithResolvers<void> | undefined;

  return {
    find: (kid) => keys.get(kid),
    ask() {
      const now = clock.now();
      if (isWithin(fetchedAtMs, MIN_AGE_MS, now)) return false;
      if (isWithin(triedAtMs, PAUSE_MS, now)) return true;
      dueAtMs = 0;
      waiting?.resolve();
      return true;
    },
    get dueAtMs() {
      return dueAtMs;
    },
    asked(signal) {
      waiting = Promise.withResolvers();
      signal.addEventListener("abort", waiting.resolve as () => void, { once: true });
      return waiting.promise;
    },
    async fetch(signal) {
      triedAtMs = clock.now();
      dueAtMs = triedAtMs + MIN_AGE_MS;
      const call = { url: config.jwks_url, signal, nowMs: triedAtMs };
      const { json, headers } = await platformCall(fetch, call);
      keys = keysOf(json);
      fetchedAtMs = clock.now();
      dueAtMs = fetchedAtMs + ageOf(headers["cache-control"]);
    },
  };
}

/** A clock that was set back must not keep the keys old. */
const isWithin = (sinceMs: number, ms: number, now: number): boolean => now >= sinceMs && now - sinceMs < ms;

const keySet = v.object({ keys: v.array(v.unknown()) });
const rsaKey = v.object({ kty: v.literal("RSA"), kid: v.string(), n: v.string(), e: v.string() });

function keysOf(json: Json | undefined): ReadonlyMap<string, KeyObject> {
  const set = v.safeParse(keySet, json);
  const keys = new Map<string, KeyObject>();
  for (const jwk of set.success ? set.output.keys : []) {
    const parsed = v.safeParse(rsaKey, jwk);
    const key = parsed.success ? publicKeyOf(parsed.output) : undefined;
    if (parsed.success && key !== undefined) keys.set(parsed.output.kid, key);
  }
  if (keys.size > 0) return keys;
  throw new SvcError("REMOTE_UNREACHABLE", "What is at jwks_url holds no keys.", { hint: "Check jwks_url." });
}

function publicKeyOf({ kty, n, e }: v.InferOutput<typeof rsaKey>): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: { kty, n, e }, format: "jwk" });
    return (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_BITS ? key : undefined;
  } catch {
    return undefined;
  }
}

function ageOf(cacheControl: string | undefined): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(cacheControl ?? "")?.[1];
  if (seconds === undefined) return DEFAULT_AGE_MS;
  return Math.min(MAX_AGE_MS, Math.max(MIN_AGE_MS, Number(seconds) * 1000));
}
