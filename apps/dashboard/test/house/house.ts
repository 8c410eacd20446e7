/** The built binary with a model, a platform and procedures behind it, on a port that stays its own over restarts. */
import { createServer } from "node:net";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelServer, fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { type ProviderAMessage, providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { type ProviderA, startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { answers, KEY } from "./model.ts";

const PERSON = "+15551234567";
const NUMBER = { phoneNumberId: "109876543210", appSecret: "app-secret-of-the-test" };
const ACCESS_TOKEN = "access-token-of-the-test";

export interface House extends AsyncDisposable {
  readonly url: string;
  readonly home: string;
  readonly platform: ProviderA;
  readonly model: FakeModelServer;
  /** The model answers 401 to messages that hold one of these. */
  readonly refused: Set<string>;
  /** A device's token, for what is done beside the page. */
  readonly token: string;
  daemon: RunningBinary;
  /** Six digits. */
  pairingCode(...options: readonly string[]): Promise<string>;
  /** Posts a message as the platform does. */
  write(message: Partial<ProviderAMessage>): Promise<void>;
  /** Asks as an outside workflow does. */
  ask(runId: string, stepId: string, title: string, message?: string): Promise<void>;
  api<Answer>(path: string, body?: object): Promise<Answer>;
  /** Gives its own device another name. */
  rename(name: string): Promise<void>;
  /** What is on disk of answers that come. */
  savedAnswers(): string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** @param seed Writes what must be there before the daemon starts. */
export async function openHouse(
  seed: (home: string) => void = () => {},
  script: typeof answers = answers,
): Promise<House> {
  const home = temporaryHome();
  const refused = new Set<string>();
  const refusing = (request: ModelRequest): ModelStep =>
    [...refused].some((text) => JSON.stringify(request.body["messages"]).includes(text))
      ? { status: 401 }
      : script(request);
  const [port, model, platform] = await Promise.all([
    freePort(),
    fakeModelServer({ script: refusing }),
    startProviderA({ accessToken: ACCESS_TOKEN, phoneNumberId: NUMBER.phoneNumberId }),
  ]);
  writeFileSync(join(home.path, "config.toml"), configOf(model.url, platform.apiUrl), { mode: 0o600 });
  mkdirSync(join(home.path, "workspace"), { recursive: true });
  seed(home.path);
  const start = () => startBinary({ home: home.path, env: { SVC__GATEWAY__PORT: String(port) } });
  const daemon = await start();
  const token = await daemon.pair();
  const deliverer = startDeliverer({ url: () => `${house.url}/provider-a`, attempts: 1 });
  let count = 0;
  const house: House = {
    url: daemon.url,
    home: home.path,
    platform,
    model,
    refused,
    token,
    daemon,
    async pairingCode(...options) {
      const { stdout, stderr } = await runBinary(["pair", ...options], { home: home.path });
      const code = /\b\d{6}\b/.exec(stdout)?.[0];
      if (code === undefined) throw new Error(`svc pair made no code: ${stderr}`);
      return code;
    },
    async write(message) {
      count += 1;
      const whole = { id: `wamid.in-${count}`, from: PERSON, atMs: Date.now(), text: "hello", ...message };
      const { statuses } = await deliverer.deliver(providerADelivery(NUMBER, whole));
      if (statuses.at(-1) !== 200) throw new Error(`the delivery was answered ${statuses.join()}`);
    },
    async ask(run_id, step_id, title, message = "") {
      const body = { type: "human_approval_request", run_id, step_id, content: { title, message }, channels: [] };
      await okay(house.daemon.request("/api/channel-events", { method: "POST", body }));
    },
    async api(path, body) {
      const response = await okay(house.daemon.request(path, { token, ...(body && { body }) }));
      return (await response.json()) as never;
    },
    async rename(name) {
      const { device } = await house.api<{ device: { id: string } }>("/api/session");
      const path = `/api/devices/${device.id}/name`;
      await okay(house.daemon.request(path, { method: "PUT", token, body: { name } }));
    },
    savedAnswers() {
      const db = new DatabaseSync(join(home.path, "state", "svc.db"), { readOnly: true });
      try {
        return JSON.stringify(db.prepare("SELECT text FROM open_answers").all());
      } finally {
        db.close();
      }
    },
    async kill() {
      await house.daemon.kill9();
    },
    async start() {
      house.daemon = await start();
    },
    async [Symbol.asyncDispose]() {
      deliverer[Symbol.dispose]();
      await house.daemon.close();
      await Promise.all([platform.close(), model.close()]);
      home.remove();
    },
  };
  return house;
}

async function okay(response: Promise<Response>): Promise<Response> {
  const answer = await response;
  if (!answer.ok) throw new Error(`${answer.url} was answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

const configOf = (modelUrl: string, apiUrl: string): string => `[model]
provider = "openai-compatible"
name = "local"
base_url = "${modelUrl}"
api_key = "${KEY}"

[gateway]
webhook_rate_limit_per_minute = 0

[channels_config.provider_a]
access_token = "${ACCESS_TOKEN}"
phone_number_id = "${NUMBER.phoneNumberId}"
verify_token = "verify-token-of-the-test"
app_secret = "${NUMBER.appSecret}"
allowed_numbers = ["*"]
api_url = "${apiUrl}"
`;

/** One that nobody has now; a restart must find it again. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
