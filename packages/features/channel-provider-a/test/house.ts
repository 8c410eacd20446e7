/** The channel as the tests set it up: the section, and the feature in this process. */
import type { Channel, Ingress, RawRequest } from "@svc/contract";
import { fakeFeatureContext, type FakeFeatureContext } from "@svc/testkit";
import * as v from "valibot";
import { type Config, config } from "../src/config.ts";
import { create } from "../src/provider-a.ts";

/** As TOML gives it. */
export const SECTION = {
  access_token: "EAAG-access-token",
  phone_number_id: "106540352242922",
  verify_token: "verify-token-of-a",
  app_secret: "pa-app-secret-0123456789",
  allowed_numbers: ["*"],
};

export interface House {
  readonly context: FakeFeatureContext<Config>;
  readonly channel: Channel;
  readonly ingress: Ingress;
  run(signal: AbortSignal): Promise<void>;
  register(signal: AbortSignal): Promise<void>;
}

type Given = Parameters<typeof fakeFeatureContext<Config>>[1];

export function house(section: Readonly<Record<string, unknown>> = {}, given: Given = {}): House {
  const context = fakeFeatureContext(v.parse(config, { ...SECTION, ...section }), given);
  const { channel, ingress = [], run, register } = create(context);
  if (!channel || !ingress[0] || !run || !register) throw new Error("the channel is not whole");
  return { context, channel, ingress: ingress[0], run: run.bind(null), register: register.bind(null) };
}

/** When the tests play. */
export const NOW_MS = Date.UTC(2026, 5, 1);

export const post = (body: string | Uint8Array, headers: Record<string, string> = {}): RawRequest => ({
  method: "POST",
  query: new URLSearchParams(),
  headers,
  body: typeof body === "string" ? Buffer.from(body) : body,
  receivedAtMs: NOW_MS,
});
