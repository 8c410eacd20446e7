/** A daemon with all four messengers behind it, each a platform that is strict, and a person who writes there. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SampleDelivery } from "@svc/contract";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelOptions, type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import { type ProviderAMessage, providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { type ProviderA, startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { type ProviderBMessage, providerBDelivery } from "@svc/testkit/platforms/provider-b/delivery";
import { type ProviderB, startProviderB } from "@svc/testkit/platforms/provider-b/server";
import { type ProviderCMessage, providerCDelivery } from "@svc/testkit/platforms/provider-c/delivery";
import { type ProviderC, startProviderC } from "@svc/testkit/platforms/provider-c/server";
import { type ProviderDMessage, providerDDelivery } from "@svc/testkit/platforms/provider-d/delivery";
import { type ProviderD, startProviderD } from "@svc/testkit/platforms/provider-d/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { channelSections, LINE, PERSON, PHONE_NUMBER_ID, planted } from "./leak-fixture.ts";

const CHANNELS = ["provider_a", "provider_b", "provider_c", "provider_d"] as const;
type ChannelId = (typeof CHANNELS)[number];

export interface PlatformsOptions {
  /** Of the config, before the channels. */
  readonly more?: string;
  readonly script?: FakeModelOptions["script"];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the person. */
  readonly allowed?: string;
  /** Whom the agent may write to by itself, as in a list of TOML. Default: those who wrote to it. */
  readonly targets?: string;
  /** Not started yet: `start` does it. */
  readonly idle?: boolean;
}

export interface Answered {
  readonly status: number;
  readonly body: string;
}

export interface PlatformsFixture extends AsyncDisposable {
  readonly home: string;
  readonly a: ProviderA;
  readonly b: ProviderB;
  readonly c: ProviderC;
  readonly d: ProviderD;
  readonly model: FakeModelServer | undefined;
  daemon: RunningBinary;
  start(): Promise<void>;
  /** The config from here on; `channels`: those that are in it. */
  config(more?: string, channels?: readonly ChannelId[]): void;
  svc(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  json<T>(...args: readonly string[]): Promise<T>;
  post(channel: ChannelId, delivery: SampleDelivery): Promise<Answered>;
  /** Genuine deliveries, of a message that says hello unless it is told otherwise. */
  readonly from: {
    a(message?: Partial<ProviderAMessage>): SampleDelivery;
    b(message?: Partial<ProviderBMessage>): SampleDelivery;
    c(message?: Partial<ProviderCMessage>): SampleDelivery;
    d(message?: Partial<ProviderDMessage>): SampleDelivery;
  };
}

export async function startPlatforms(options: PlatformsOptions = {}): Promise<PlatformsFixture> {
  const { more = "", script, env = {}, allowed, targets } = options;
  const stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const a = stack.use(
    await startProviderA({ accessToken: planted("provider_a.access_token"), phoneNumberId: PHONE_NUMBER_ID }),
  );
  const b = stack.use(await startProviderB({ token: planted("provider_b.api_token"), lines: [LINE] }));
  const c = stack.use(await startProviderC({ token: planted("provider_c.api_token") }));
  const d = stack.use(await startProviderD({ secret: planted("provider_d.webhook_secret") }));
  const model = script && stack.use(await fakeModelServer({ script }));
  const urls = { provider_a: a.apiUrl, provider_b: b.apiUrl, provider_c: c.url, provider_d: d.url };
  const config = (text = more, channels: readonly ChannelId[] = CHANNELS): void => {
    const at = Object.fromEntries(channels.map((channel) => [channel, urls[channel]]));
    const sections = channelSections(at, allowed, targets);
    const whole = `${text}\n${model ? modelSection(model) : ""}\n${sections}\n`;
    writeFileSync(join(home.path, "config.toml"), whole, { mode: 0o600 });
  };
  config();
  const chatId = b.openChat([PERSON]);
  let count = 0;
  const about = (prefix: string) => ({ id: `${prefix}${(count += 1)}`, text: "hello", from: PERSON, atMs: Date.now() });
  const number = { phoneNumberId: PHONE_NUMBER_ID, appSecret: planted("provider_a.app_secret") };
  const fixture: PlatformsFixture = {
    home: home.path,
    a,
    b,
    c,
    d,
    model,
    // Set by `start`.
    daemon: undefined as unknown as RunningBinary,
    config,
    async start() {
      fixture.daemon = await startBinary({ home: home.path, env });
    },
    svc: (...args) => runBinary(args, { home: home.path }),
    async json(...args) {
      const { stdout, stderr } = await fixture.svc(...args, "--json");
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout) as never;
    },
    async post(channel, { query, headers, body }) {
      const url = `${fixture.daemon.url}/${channel.replace("_", "-")}${query}`;
      const response = await fetch(url, { method: "POST", headers, body: Buffer.from(body) });
      return { status: response.status, body: await response.text() };
    },
    from: {
      a: (message) => providerADelivery(number, { ...about("wamid."), ...message }),
      b: (message) => providerBDelivery({ ...about("b-"), chatId, ...message }, planted("provider_b.signing_secret")),
      c: (message) => providerCDelivery({ ...about("c-"), ...message }, planted("provider_c.callback_token")),
      d: (message) =>
        providerDDelivery(
          { ...about(""), room: "room1", from: "ann", ...message },
          planted("provider_d.webhook_secret"),
        ),
    },
    async [Symbol.asyncDispose]() {
      await (fixture.daemon as RunningBinary | undefined)?.close();
      await stack.disposeAsync();
    },
  };
  if (options.idle !== true) await fixture.start();
  return fixture;
}

const modelSection = ({ url }: FakeModelServer): string => `
[model]
provider = "openai-compatible"
name = "fake"
base_url = "${url}"
api_key = "${planted("model.api_key")}"
max_retries = 0
`;
