/** The channel as the tests set it up: its section, with or without a platform. */
import type { Channel, FeatureContext, Ingress, RawRequest, SampleDelivery } from "@svc/contract";
import { rawOf } from "@svc/testkit/conformance/channel-conformance";
import type { FakeFeatureContext } from "@svc/testkit/feature-context";
import { openChannel } from "@svc/testkit/open-channel";
import definition, { type Config } from "../src/index.ts";
import { create } from "../src/provider-c.ts";

export const TOKEN = "token-of-the-account";
export const CALLBACK_TOKEN = "token-of-the-callback";
export const VERIFY_TOKEN = "token-of-the-handshake";
export const NOW_MS = Date.UTC(2026, 1, 3, 12);

export const section = {
  api_token: TOKEN,
  api_url: "https://live-c.example.test",
  tenant_id: undefined as string | undefined,
  allowed_numbers: ["+12025550123"],
  callback_token: CALLBACK_TOKEN as string | undefined,
  verify_token: VERIFY_TOKEN as string | undefined,
};

export interface Opened {
  readonly channel: Channel & Required<Pick<Channel, "check" | "typing" | "media">>;
  readonly ingress: Ingress;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly context: FakeFeatureContext<Config>;
}

/** `state`: of the process before. */
export function open(
  changes: Partial<typeof section> = {},
  fetch?: FeatureContext["fetch"],
  state?: FeatureContext["state"],
): Opened {
  const given = { nowMs: NOW_MS, ...(fetch && { fetch }), ...(state && { state }) };
  const { channel, ingress, made, context } = openChannel({ definition, create }, { ...section, ...changes }, given);
  return { channel: channel as Opened["channel"], ingress: ingress[0]!, run: made.run!, context };
}

/** What the gateway makes of a delivery. */
export const requestOf = (delivery: SampleDelivery, receivedAtMs = NOW_MS): RawRequest => rawOf(delivery, receivedAtMs);

export const never = new AbortController().signal;
