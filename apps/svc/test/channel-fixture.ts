/** A daemon with Provider A behind it: the real binary, a platform that is strict, and a person who writes there. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { type ProviderAMessage, providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { type ProviderA, startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { temporaryHome } from "@svc/testkit/temporary-home";

const ACCESS_TOKEN = "EAAB-access-token-of-the-test";
const APP_SECRET = "app-secret-of-the-test";
export const VERIFY_TOKEN = "verify-token-of-the-test";
const PHONE_NUMBER_ID = "109876543210";
export const PERSON = "+15551234567";

export interface ChannelFixture extends AsyncDisposable {
  readonly home: string;
  readonly platform: ProviderA;
  daemon: RunningBinary;
  /** Posts a message as the platform does; resolves with the statuses of its attempts. */
  write(message: Partial<ProviderAMessage>): Promise<readonly number[]>;
  svc(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  json<T>(...args: readonly string[]): Promise<T>;
  /** The config from here on, beside what the platform needs; `section`: more keys of the channel. */
  config(more: string, section?: string): void;
}

export async function startChannelFixture(more = "", section = ""): Promise<ChannelFixture> {
  const home = temporaryHome();
  const platform = await startProviderA({ accessToken: ACCESS_TOKEN, phoneNumberId: PHONE_NUMBER_ID });
  const config = (text: string, keys = section): void =>
    writeFileSync(join(home.path, "config.toml"), `${text}\n${sectionOf(platform)}${keys}\n`, { mode: 0o600 });
  config(more);
  let count = 0;
  const deliverer = startDeliverer({ url: () => `${fixture.daemon.url}/provider-a`, attempts: 1 });
  const fixture: ChannelFixture = {
    home: home.path,
    platform,
    daemon: await startBinary({ home: home.path }),
    config,
    async write(message) {
      count += 1;
      const whole = { id: `wamid.in-${count}`, from: PERSON, atMs: Date.now(), text: "hello", ...message };
      const number = { phoneNumberId: PHONE_NUMBER_ID, appSecret: APP_SECRET };
      return (await deliverer.deliver(providerADelivery(number, whole))).statuses;
    },
    svc: (...args) => runBinary(args, { home: home.path }),
    async json(...args) {
      const { stdout, stderr } = await runBinary([...args, "--json"], { home: home.path });
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout) as never;
    },
    async [Symbol.asyncDispose]() {
      deliverer[Symbol.dispose]();
      await fixture.daemon.close();
      await platform.close();
      home.remove();
    },
  };
  return fixture;
}

const sectionOf = ({ apiUrl }: ProviderA): string => `
[channels_config.provider_a]
access_token = "${ACCESS_TOKEN}"
phone_number_id = "${PHONE_NUMBER_ID}"
verify_token = "${VERIFY_TOKEN}"
app_secret = "${APP_SECRET}"
allowed_numbers = ["${PERSON}"]
api_url = "${apiUrl}"
`;

/** Looks until `holds`; what happens in another process tells nobody that it has happened. */
export async function eventually<T>(look: () => T | Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const value = await look();
    if (holds(value) || tries === 2_400) return value;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
