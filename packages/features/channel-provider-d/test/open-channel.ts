/** The channel as the tests set it up: its section, with or without a platform. */
import { readFileSync } from "node:fs";
import type { Channel, FeatureContext, Ingress, Json, RawRequest, SampleDelivery } from "@svc/contract";
import { rawOf } from "@svc/testkit/conformance/channel-conformance";
import type { FakeFeatureContext } from "@svc/testkit/feature-context";
import { openChannel } from "@svc/testkit/open-channel";
import definition, { type Config } from "../src/index.ts";
import { create } from "../src/provider-d.ts";

export const TOKEN = "app-token-of-the-bot-0123456789-0123456789";
export const SECRET = "webhook-secret-of-the-bot-0123456789-012345";

export const section = {
  base_url: "https://cloud.example.org",
  app_token: TOKEN,
  webhook_secret: SECRET as string | undefined,
  bot_name: "Helper",
  allowed_users: ["ada-lovelace"] as readonly string[],
};

export interface Opened {
  readonly channel: Channel & Required<Pick<Channel, "check" | "media">>;
  readonly ingress: Ingress;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly context: FakeFeatureContext<Config>;
}

export type Changes = Partial<typeof section & { api_url: string }>;

export function open(changes: Changes = {}, fetch?: FeatureContext["fetch"]): Opened {
  const given = fetch === undefined ? {} : { fetch };
  const { channel, ingress, made, context } = openChannel({ definition, create }, { ...section, ...changes }, given);
  return { channel: channel as Opened["channel"], ingress: ingress[0]!, run: made.run!, context };
}

/** What the gateway makes of a delivery. */
export const requestOf = (delivery: SampleDelivery): RawRequest => rawOf(delivery, 0);

export const posted = (payload: Json | string): RawRequest =>
  requestOf({
    method: "POST",
    query: "",
    headers: {},
    body: Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload)),
  });

export const fixture = (name: string): Json =>
  JSON.parse(readFileSync(`${import.meta.dirname}/fixtures/${name}.json`, "utf8")) as Json;

export const never = new AbortController().signal;
