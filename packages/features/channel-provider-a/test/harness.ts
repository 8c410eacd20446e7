/** The channel as the tests set it up: the section, and the feature in this process, with or without its platform. */
import {
  type Channel,
  type Contributions,
  type Ingress,
  type OutgoingMessage,
  type Parsed,
  type RawRequest,
  type SampleDelivery,
  SvcError,
} from "@svc/contract";
import { rawOf, type Section } from "@svc/testkit/conformance/channel-conformance";
import type { FakeFeatureContext } from "@svc/testkit/feature-context";
import { openChannel } from "@svc/testkit/open-channel";
import { type ProviderA, startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { readFileSync } from "node:fs";
import type { Config } from "../src/config.ts";
import definition from "../src/index.ts";
import { create } from "../src/provider-a.ts";

/** As TOML gives it. */
export const SECTION = {
  access_token: "EAAG-access-token-of-a",
  phone_number_id: "106540352242922",
  verify_token: "verify-token-of-a",
  app_secret: "pa-app-secret-0123456789",
  allowed_numbers: ["*"],
};

export interface Harness extends Required<Pick<Contributions, "run" | "register">> {
  readonly context: FakeFeatureContext<Config>;
  readonly channel: Channel & Required<Pick<Channel, "typing" | "readMarks" | "media" | "prompts" | "check">>;
  readonly ingress: Ingress & Required<Pick<Ingress, "sample">>;
}

type Given = Partial<Pick<FakeFeatureContext<Config>, "fetch" | "state" | "clock" | "receive">>;

/** `section`: what is different in it; `undefined` takes a key away. */
export function harness(section: Section = {}, given: Given = {}): Harness {
  const { channel, ingress, made, context } = openChannel({ definition, create }, { ...SECTION, ...section }, given);
  return { context, channel, ingress: ingress[0], run: made.run, register: made.register } as Harness;
}

/** The channel and a platform that knows it. */
export async function harnessAndPlatform(
  section: Section = {},
): Promise<Harness & { platform: ProviderA } & AsyncDisposable> {
  const platform = await startProviderA({
    accessToken: SECTION.access_token,
    phoneNumberId: SECTION.phone_number_id,
  });
  const made = harness({ api_url: platform.apiUrl, ...section });
  return { ...made, platform, [Symbol.asyncDispose]: () => platform.close() };
}

/** When the tests play. */
export const NOW_MS = Date.UTC(2026, 5, 1);

export const never = new AbortController().signal;

export const post = (body: string | Uint8Array, headers: SampleDelivery["headers"] = {}): RawRequest =>
  rawOf({ method: "POST", query: "", headers, body: typeof body === "string" ? Buffer.from(body) : body }, NOW_MS);

export const fixture = (name: string): string => readFileSync(`${import.meta.dirname}/fixtures/${name}.json`, "utf8");

export const parsed = (body: string, section: Section = {}): Parsed => harness(section).ingress.parse(post(body));

export const PERSON = "+16505551234";

export const message = (text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "provider_a", id: PERSON },
  text,
  deliveryId: "delivery-1",
  ...more,
});

/** What a send that has to fail fails with. */
export async function failure(sending: Promise<unknown>): Promise<SvcError> {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error(`no SvcError: ${String(error)}`);
  return error;
}
