/** A daemon of the fullest build that traces to a real collector, with a model and a messenger behind it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelOptions, type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import { type ProviderAMessage, providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { type ProviderA, startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { type OtlpReceiver, type OtlpSpan, startOtlpReceiver } from "@svc/testkit/real/otlp-receiver";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { localModel, UNGUARDED } from "./daemon.ts";

const PERSON = "+15551234567";
const ACCESS_TOKEN = "EAAB-access-token-of-the-test";
const APP_SECRET = "app-secret-of-the-test";
const PHONE_NUMBER_ID = "109876543210";

export interface OtelFixture extends AsyncDisposable {
  readonly receiver: OtlpReceiver;
  readonly model: FakeModelServer;
  readonly platform: ProviderA;
  daemon: RunningBinary;
  /** Of a device that the first daemon paired. */
  readonly token: string;
  start(): Promise<void>;
  /** Posts a message as the platform does, with these headers beside. */
  write(message: Partial<ProviderAMessage>, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Stops the daemon, which sends what it has; every span so far. */
  told(): Promise<readonly OtlpSpan[]>;
}

export interface OtelOptions {
  readonly script: FakeModelOptions["script"];
  /** Lines of `[observability]`. */
  readonly keys?: string;
  /** Default: the receiver. */
  readonly endpoint?: string;
}

export async function startOtelFixture({
  script,
  keys = 'backend = "otel"',
  endpoint,
}: OtelOptions): Promise<OtelFixture> {
  const stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const receiver = stack.use(await startOtlpReceiver());
  const model = stack.use(await fakeModelServer({ script }));
  const platform = stack.use(await startProviderA({ accessToken: ACCESS_TOKEN, phoneNumberId: PHONE_NUMBER_ID }));
  const config = `${localModel(model)}
api_key = "${MODEL_KEY}"
${UNGUARDED}
[observability]
otel_endpoint = "${endpoint ?? receiver.url}"
${keys}

[channels_config.provider_a]
access_token = "${ACCESS_TOKEN}"
phone_number_id = "${PHONE_NUMBER_ID}"
verify_token = "verify-token-of-the-test"
app_secret = "${APP_SECRET}"
allowed_numbers = ["${PERSON}"]
api_url = "${platform.apiUrl}"
`;
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  const start = (): Promise<RunningBinary> => startBinary({ home: home.path, binary: fullestBinaryPath() });
  const daemon = await start();
  let count = 0;
  const fixture: OtelFixture = {
    receiver,
    model,
    platform,
    daemon,
    token: await daemon.pair(),
    async start() {
      fixture.daemon = await start();
    },
    async write(message, headers = {}) {
      count += 1;
      const whole = { id: `wamid.in-${count}`, from: PERSON, atMs: Date.now(), text: "hello", ...message };
      const delivery = providerADelivery({ phoneNumberId: PHONE_NUMBER_ID, appSecret: APP_SECRET }, whole);
      const response = await fetch(`${fixture.daemon.url}/provider-a`, {
        method: "POST",
        headers: { ...delivery.headers, ...headers },
        body: Buffer.from(delivery.body),
      });
      return response.status;
    },
    async told() {
      await fixture.daemon.stop();
      return receiver.spans();
    },
    async [Symbol.asyncDispose]() {
      await fixture.daemon.close();
      await stack.disposeAsync();
    },
  };
  return fixture;
}

/** A secret that must be in no span, whatever is recorded. */
export const MODEL_KEY = "sk-model-key-of-the-test-0123456789";

/** One line for each span below `parent`, two spaces deeper than what it is part of, in the order in which they began. */
export function treeOf(spans: readonly OtlpSpan[], parent: string, indent = ""): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .toSorted((a, b) => Number(BigInt(a.startUnixNano) - BigInt(b.startUnixNano)))
    .flatMap((span) => [`${indent}${span.name}`, ...treeOf(spans, span.spanId, `${indent}  `)]);
}
