/** A delivery as a channel's platform would make it, signed from the config, and what becomes of it. */
import { randomUUID } from "node:crypto";
import { type SampleMessage, SvcError, trimEndOf } from "@svc/contract";
import type { RegisteredIngress, Registry } from "@svc/runtime";
import { unknownChannel } from "./find-channel.ts";

export interface SampleAnswer {
  readonly url: string;
  readonly status: number;
  readonly body: string;
  readonly took_ms: number;
}

/** A platform waits ten seconds and more; a service that is well answers in milliseconds. */
const LONGEST_MS = 30_000;
const MOST_CHARS = 2_000;

export interface Sample {
  readonly channel: string;
  readonly text: string;
  readonly from: string | undefined;
  /** Where the service is, with or without the channel's path: people have the callback URL at hand. */
  readonly base: string;
}

/** Throws CHANNEL_UNKNOWN, CHANNEL_CANNOT, REMOTE_UNREACHABLE, REMOTE_TIMEOUT. */
export async function sendSample(registry: Registry, { channel, text, from, base }: Sample): Promise<SampleAnswer> {
  const { ingress } = ingressOf(registry, channel);
  const message: SampleMessage = { text, id: `sample-${randomUUID()}`, atMs: Date.now(), ...(from && { from }) };
  const { method, query, headers, body } = ingress.sample!(message);
  const root = trimEndOf(base, "/");
  const url = new URL(`${root.endsWith(ingress.path) ? root : root + ingress.path}${query}`);
  const startedAt = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: Buffer.from(body),
      redirect: "manual",
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    const answered = (await response.text()).slice(0, MOST_CHARS);
    const took = Math.round(performance.now() - startedAt);
    // A callback URL may carry a token; the query is not shown.
    return { url: `${url.origin}${url.pathname}`, status: response.status, body: answered, took_ms: took };
  } catch (cause) {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    throw new SvcError(isLate ? "REMOTE_TIMEOUT" : "REMOTE_UNREACHABLE", undefined, {
      hint: `Is the service at ${url.origin}? See: svc status`,
      cause,
    });
  }
}

function ingressOf(registry: Registry, channel: string): RegisteredIngress {
  const ways = registry.ingress.filter((way) => way.channel === channel);
  const found = ways.find(({ ingress }) => ingress.sample !== undefined);
  if (found) return found;
  if (ways.length > 0) {
    throw new SvcError("CHANNEL_CANNOT", "Deliveries of this channel are signed by its platform alone.", {
      hint: "Set webhook_secret in its section: a delivery may present that instead of a signature.",
    });
  }
  if (registry.channels.get(channel)) {
    throw new SvcError("CHANNEL_CANNOT", "This channel takes no deliveries of a platform.");
  }
  throw unknownChannel(channel, registry);
}
