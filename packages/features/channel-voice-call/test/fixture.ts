/** The channel as the tests set it up: with its platform, and with its paths served as the gateway serves them. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import {
  type Channel,
  type DeliveryUpdate,
  type Inbound,
  type Ingress,
  type Notice,
  type OutgoingMessage,
  type Parsed,
  type RawRequest,
  type Speech,
  SvcError,
} from "@svc/contract";
import type { FakeClock } from "@svc/testkit/fake-clock";
import { fakeSpeech } from "@svc/testkit/fake-speech";
import type { FakeFeatureContext } from "@svc/testkit/feature-context";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { openChannel } from "@svc/testkit/open-channel";
import {
  startVoicePlatform,
  type VoicePlatform,
  type VoicePlatformOptions,
} from "@svc/testkit/platforms/voice-call/server";
import { voiceDelivery } from "@svc/testkit/platforms/voice-call/signed";
import type { Config } from "../src/config.ts";
import definition from "../src/index.ts";
import { create } from "../src/voice-call.ts";

export const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
export const TOKEN = "auth-token-of-the-voice-test-0123";
export const NUMBER = "+15550009999";
export const PERSON = "+15551234567";
export const STRANGER = "+15559999999";

/** As TOML gives it. */
export const SECTION = {
  account_sid: ACCOUNT,
  auth_token: TOKEN,
  from_number: NUMBER,
  allowed_numbers: [PERSON],
};

export const never: AbortSignal = new AbortController().signal;

export interface Fixture extends AsyncDisposable {
  readonly platform: VoicePlatform;
  readonly clock: FakeClock;
  readonly channel: Channel;
  readonly ingress: readonly Ingress[];
  readonly context: FakeFeatureContext<Config>;
  /** Where the platform reaches it. */
  readonly base: string;
  /** What came in, oldest first. */
  readonly inbound: readonly Inbound[];
  readonly updates: readonly DeliveryUpdate[];
  readonly notices: readonly Notice[];
  /** Targets of the webhooks that came, oldest first. */
  readonly targets: readonly string[];
  /** A webhook of this call to this target, as the platform would post it; resolves with what it is answered. */
  post(target: string, fields: Readonly<Record<string, string>>): Promise<{ status: number; body: string }>;
  /** Asked about each webhook; true: it is answered 503. Default: never. */
  isFull: () => boolean;
  /** As the service's next process: what is in memory is gone, what is kept is not. */
  restart(): void;
  /** Of the channel that is there now. */
  readonly shutdown: () => Promise<void>;
  /** Hands the notices over that have come. */
  followUp(): Promise<void>;
  /** An answer to the message that came in last, or to this one. */
  answer(text: string, to?: Inbound, more?: Partial<OutgoingMessage>): OutgoingMessage;
  message(text: string, more?: Partial<OutgoingMessage>): OutgoingMessage;
}

export interface FixtureOptions {
  readonly section?: object;
  readonly platform?: Partial<VoicePlatformOptions>;
  readonly speech?: Speech;
  readonly state?: FakeFeatureContext<Config>["state"];
}

export async function fixture(options: FixtureOptions = {}): Promise<Fixture> {
  const { speech = fakeSpeech() } = options;
  const [inbound, updates, notices]: [Inbound[], DeliveryUpdate[], Notice[]] = [[], [], []];
  const targets: string[] = [];
  const platform = await startVoicePlatform({
    accountSid: ACCOUNT,
    authToken: TOKEN,
    number: NUMBER,
    ...options.platform,
  });
  let count = 0;
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = options.state ?? memorySecrets();
  const opened = () =>
    openChannel<Config>(
      { definition, create },
      { ...SECTION, api_url: platform.url, webhook_url: base, ...options.section },
      { clock: platform.clock, speech, state },
    );
  let made = opened();

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    targets.push(incoming.url ?? "/");
    const url = new URL(incoming.url ?? "/", base);
    const way = made.ingress.find(({ path }) => path === url.pathname);
    const request: RawRequest = {
      method: incoming.method ?? "",
      query: url.searchParams,
      target: incoming.url ?? "/",
      headers: incoming.headers as RawRequest["headers"],
      body: await buffer(incoming),
      receivedAtMs: platform.clock.now(),
    };
    const verdict = way?.verify(request);
    if (!way || !verdict?.ok) return void response.writeHead(way ? 401 : 404).end();
    const parsed: Parsed = way.parse(request);
    if (at.isFull()) return void response.writeHead(503).end();
    const seen = new Set(inbound.map(({ id }) => id));
    inbound.push(...(parsed.inbound ?? []).filter(({ id }) => !seen.has(id)));
    updates.push(...(parsed.updates ?? []));
    notices.push(...(parsed.notices ?? []));
    const { status = 200, contentType = "application/json", body = "{}" } = parsed.reply ?? {};
    response.writeHead(status, { "content-type": contentType }).end(body);
  }

  platform.number.voiceUrl = `${base}/voice-call`;
  platform.number.statusCallback = `${base}/voice-call/status`;
  const at: Fixture = {
    platform,
    clock: platform.clock,
    get channel() {
      return made.channel;
    },
    get ingress() {
      return made.ingress;
    },
    get context() {
      return made.context;
    },
    base,
    inbound,
    updates,
    notices,
    targets,
    async post(target, fields) {
      const { pathname: path, search: query } = new URL(target, base);
      const { headers, body } = voiceDelivery({ authToken: TOKEN, base, path, query }, fields);
      const response = await fetch(base + target, { method: "POST", headers, body: Buffer.from(body) });
      return { status: response.status, body: await response.text() };
    },
    isFull: () => false,
    restart() {
      made = opened();
    },
    get shutdown() {
      const { shutdown } = made.made;
      return async () => shutdown?.();
    },
    async followUp() {
      for (const { body } of notices) await made.channel.onNotice?.(body, never);
    },
    answer(text, to = inbound.at(-1)!, more = {}) {
      return at.message(text, { conversation: to.conversation, replyData: to.replyData!, ...more });
    },
    message: (text, more = {}) => ({
      conversation: { channel: "voice_call", id: PERSON },
      text,
      deliveryId: `delivery-${(count += 1)}`,
      ...more,
    }),
    async [Symbol.asyncDispose]() {
      await made.made.shutdown?.();
      await platform.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return at;
}

export async function failure(work: Promise<unknown>): Promise<SvcError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error(`no SvcError: ${String(error)}`);
  return error;
}
