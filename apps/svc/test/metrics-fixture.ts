/** A daemon that counts: a model with known usage and a known price, one channel, and whoever looks at the numbers. */
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { parseExposition } from "@svc/testkit/conformance/observer-conformance";
import { fakeModelServer, type FakeModelOptions } from "@svc/testkit/fake-model/server";
import { providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { type ProviderA, startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { homeWith, localModel, UNGUARDED } from "./daemon.ts";

export const PERSON = "+16505551234";
const ACCOUNT = { accessToken: "EAAG-planted-access-token", phoneNumberId: "106540352242922" };
const NUMBER = { phoneNumberId: ACCOUNT.phoneNumberId, appSecret: "planted-app-secret-0123456789" };

export interface MetricsFixture extends AsyncDisposable {
  readonly daemon: RunningBinary;
  readonly token: string;
  readonly platform: ProviderA;
  readonly home: string;
  metrics(): Promise<string>;
  /** Somebody writes on the platform; resolves when the answer is counted as delivered. */
  write(text: string): Promise<void>;
}

export const METRICS = '[observability]\nbackend = "metrics"\n';

/** In US dollars: 2 for a million tokens to the model, 10 for a million from it. */
export async function startCounting(script: FakeModelOptions["script"]): Promise<MetricsFixture> {
  const stack = new AsyncDisposableStack();
  const model = stack.use(await fakeModelServer({ script }));
  const platform = stack.use(await startProviderA(ACCOUNT));
  const home = stack.use(
    homeWith(`${localModel(model)}

[prices.local]
input_per_million = 2
output_per_million = 10

${METRICS}
${UNGUARDED}
[channels_config.provider_a]
access_token = "${ACCOUNT.accessToken}"
phone_number_id = "${ACCOUNT.phoneNumberId}"
verify_token = "planted-verify-token"
app_secret = "${NUMBER.appSecret}"
allowed_numbers = ["${PERSON}"]
api_url = "${platform.apiUrl}"
`),
  );
  const daemon = stack.use(await startBinary({ binary: fullestBinaryPath(), home: home.path }));
  const token = await daemon.pair();
  const metrics = async (): Promise<string> => (await daemon.request("/metrics")).text();
  let written = 0;
  return {
    daemon,
    token,
    platform,
    home: home.path,
    metrics,
    async write(text) {
      written += 1;
      const delivery = providerADelivery(NUMBER, { id: `wamid.${written}`, text, from: PERSON, atMs: Date.now() });
      const { method, headers, body } = delivery;
      const { status } = await fetch(`${daemon.url}/provider-a`, { method, headers, body } as RequestInit);
      if (status !== 200) throw new Error(`the delivery was answered ${status}`);
      while (delivered(await metrics()) < written) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const delivered = (text: string): number =>
  parseExposition(text)
    .find(({ name }) => name === "svc_deliveries_total")
    ?.samples.reduce((sum, { value }) => sum + value, 0) ?? 0;
