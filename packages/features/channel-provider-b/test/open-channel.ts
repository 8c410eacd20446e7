/** Constructs the channel for tests, with or without a platform. */
import type { Channel, FeatureContext, Ingress, RawRequest, SampleDelivery } from "@svc/contract";
import { rawOf } from "@svc/testkit/conformance/channel-conformance";
import type { FakeFeatureContext } from "@svc/testkit/feature-context";
import { openChannel } from "@svc/testkit/open-channel";
import definition, { type Config } from "../src/index.ts";
import { create } from "../src/provider-b.ts";

export const TOKEN = "token-of-the-partner";
export const SECRET = "secret-of-the-subscription";
export const LINE = "+15550009999";
export const NOW_MS = Date.UTC(2026, 1, 3, 12);

export const section = {
  api_token: TOKEN,
  from_phone: LINE,
  signing_secret: SECRET as string | undefined,
  allowed_senders: ["+12025550123"],
};

export interface Opened {
  readonly channel: Channel & Required<Pick<Channel, "check" | "typing" | "readMarks" | "media">>;
  readonly ingress: Ingress;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly context: FakeFeatureContext<Config>;
}

/** Without `api_url`, the channel has no platform. */
export function open(
  changes: Partial<typeof section & { api_url: string }> = {},
  fetch?: FeatureContext["fetch"],
): Opened {
  const options = { nowMs: NOW_MS, ...(fetch && { fetch }) };
  const { channel, ingress, made, context } = openChannel({ definition, create }, { ...section, ...changes }, options);
  return { channel: channel as Opened["channel"], ingress: ingress[0]!, run: made.run!, context };
}

/** A delivery as the gateway passes it on. */
export const requestOf = (delivery: SampleDelivery, receivedAtMs = NOW_MS): RawRequest => rawOf(delivery, receivedAtMs);

export const never = new AbortController().signal;
