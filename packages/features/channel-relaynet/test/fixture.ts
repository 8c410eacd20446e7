/** The channel as the tests set it up, with or without relays. */
import type { Channel, OutgoingMessage, SvcError } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { openChannel, type OpenedChannel } from "@svc/testkit/open-channel";
import { relaynetPerson } from "@svc/testkit/platforms/relaynet/people";
import { type Relaynet, startRelaynet } from "@svc/testkit/platforms/relaynet/server";
import type { Config } from "../src/config.ts";
import definition from "../src/index.ts";
import { create } from "../src/relaynet.ts";

export const AGENT = relaynetPerson("agent");
export const ADA = relaynetPerson("ada");
export const EVE = relaynetPerson("eve");
export const never = new AbortController().signal;

export const SECTION = {
  private_key: Buffer.from(AGENT.secretKey).toString("hex"),
  relays: ["wss://relay.example.org"],
  allowed_pubkeys: [ADA.npub],
};

export const platform = (): Promise<Relaynet> => startRelaynet({ people: [ADA, EVE] });

type Given = NonNullable<Parameters<typeof openChannel<Config>>[2]>;

export interface Opened extends OpenedChannel<Config> {
  readonly channel: Channel & Required<Pick<Channel, "check" | "setup">>;
}

export function open(section: Readonly<Record<string, unknown>> = {}, given: Given = {}): Opened {
  const clock = fakeClock(Date.now());
  return openChannel<Config>({ definition, create }, { ...SECTION, ...section }, { clock, ...given }) as Opened;
}

export interface Running extends Opened, AsyncDisposable {
  /** What `run` failed with. */
  failure(): unknown;
  stop(): Promise<void>;
}

/** Connected to all relays of the section. */
export async function run(section: Readonly<Record<string, unknown>>, given: Given = {}): Promise<Running> {
  const opened = open(section, given);
  const ending = new AbortController();
  let failure: unknown;
  const running = opened.made.run!(ending.signal).catch((error: unknown) => {
    failure = error;
  });
  const stop = async (): Promise<void> => {
    ending.abort(new Error("the test is over"));
    await running;
  };
  return { ...opened, failure: () => failure, stop, [Symbol.asyncDispose]: stop };
}

/** Resolves once it is so; only what hangs takes so long. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_500; tries += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`it does not come true: ${isSo.toString()}`);
}

/** Long enough for what must not come. */
export const afterAWhile = async (): Promise<void> => {
  for (let turn = 0; turn < 300; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

let deliveries = 0;
export const message = (text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  conversation: { channel: "relaynet", id: ADA.npub },
  text,
  deliveryId: `delivery-${(deliveries += 1)}`,
  ...more,
});

/** What something that has to fail fails with. */
export const failureOf = async (work: Promise<unknown>): Promise<SvcError> => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) throw new Error("it succeeds");
  return error as SvcError;
};
