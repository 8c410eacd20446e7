/** The channel as the tests set it up: its section, with or without a mailbox that is watched. */
import type { Channel, Ingress, Json, RawRequest, SampleDelivery } from "@svc/contract";
import { rawOf } from "@svc/testkit/conformance/channel-conformance";
import type { FakeFeatureContext } from "@svc/testkit/feature-context";
import { openChannel } from "@svc/testkit/open-channel";
import { type Mailpush, type MailpushOptions, startMailpush } from "@svc/testkit/platforms/mailpush/server";
import definition from "../src/index.ts";
import type { Config } from "../src/config.ts";
import { create } from "../src/mailpush.ts";

const TOKEN = "access-token-of-the-mailbox";
export const SECRET = "secret-of-the-push-subscription";
export const OWN = "agent@example.com";
export const TOPIC = "projects/my-project/topics/mail";
export const NOW_MS = Date.UTC(2026, 1, 3, 12);
export const REFRESH = { refresh_token: "refresh-token-1", client_id: "client-1", client_secret: "client-secret-1" };

export const section = {
  enabled: true,
  topic: TOPIC,
  oauth_token: TOKEN as string | undefined,
  webhook_secret: SECRET as string | undefined,
  allowed_senders: ["ada@example.org", "@example.net"] as readonly string[],
};

export interface Opened {
  readonly channel: Channel & Required<Pick<Channel, "check" | "media" | "onNotice" | "setup" | "readMarks">>;
  readonly ingress: Ingress;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly context: FakeFeatureContext<Config>;
}

type Given = Partial<Pick<FakeFeatureContext<Config>, "fetch" | "state" | "clock" | "receive">>;

export function open(changes: Record<string, unknown> = {}, given: Given = {}): Opened {
  const all = given.clock === undefined ? { nowMs: NOW_MS, ...given } : given;
  const { channel, ingress, made, context } = openChannel({ definition, create }, { ...section, ...changes }, all);
  return { channel: channel as Opened["channel"], ingress: ingress[0]!, run: made.run!, context };
}

export const urlsOf = (platform: Pick<Mailpush, "url">) => ({
  api_url: platform.url,
  pubsub_url: platform.url,
  token_url: `${platform.url}/token`,
  jwks_url: `${platform.url}/certs`,
});

const platforms: Mailpush[] = [];
const loops: { stop: AbortController; running: Promise<void> }[] = [];

/** Runs the channel's loop until the test is over. */
export function started({ run }: Opened): Promise<void> {
  const stop = new AbortController();
  const running = run(stop.signal);
  running.catch(() => undefined);
  loops.push({ stop, running });
  return running;
}

export async function startPlatform(options: Partial<MailpushOptions> = {}): Promise<Mailpush> {
  const grant = {
    refreshToken: REFRESH.refresh_token,
    clientId: REFRESH.client_id,
    clientSecret: REFRESH.client_secret,
  };
  const standard = { address: OWN, topics: [TOPIC], token: TOKEN, now: () => NOW_MS, ...grant };
  const platform = await startMailpush({ ...standard, ...options });
  platforms.push(platform);
  return platform;
}

export async function closePlatforms(): Promise<void> {
  for (const { stop, running } of loops.splice(0)) {
    stop.abort();
    await running.catch(() => undefined);
  }
  for (const platform of platforms.splice(0)) await platform.close();
}

/** A channel whose mailbox is watched, as after its first start. */
export async function connected(
  changes: Record<string, unknown> = {},
  options: Partial<MailpushOptions> = {},
  given: Given = {},
): Promise<Opened & { platform: Mailpush; notice: Json }> {
  const platform = await startPlatform(options);
  const opened = open({ ...urlsOf(platform), ...changes }, given);
  await opened.channel.onNotice({ emailAddress: OWN, historyId: "1" }, never);
  return { ...opened, platform, notice: NEWEST };
}

/** Says that something happened, beyond all that was read. */
export const NEWEST: Json = { emailAddress: OWN, historyId: "18446744073709551615" };

/** What the gateway makes of a delivery. */
export const requestOf = (delivery: SampleDelivery, receivedAtMs = NOW_MS): RawRequest => rawOf(delivery, receivedAtMs);

export const never = new AbortController().signal;
