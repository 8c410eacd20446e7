/** What a feature is handed, in this process: a clock that stands still, a log that is read, no network unless given one. */
import {
  type ClientId,
  type FeatureContext,
  type Inbound,
  type Readings,
  type ReceivedWith,
  SvcError,
} from "@svc/contract";
import { FeatureStates } from "@svc/kernel";
import { captureLogger, type CapturedLogger } from "./capture-logger.ts";
import { fakeClock, type FakeClock } from "./fake-clock.ts";
import { fakeSpeech } from "./fake-speech.ts";
import { memorySecrets, memorySecretsByClient } from "./memory-secrets.ts";

export interface FakeFeatureContext<Config> extends FeatureContext<Config> {
  readonly log: CapturedLogger;
  readonly clock: FakeClock;
  /** What the feature gave to `receive`, in order. */
  readonly received: readonly Inbound[];
  /** What it said was taken back. */
  readonly withdrawn: readonly string[];
}

export function fakeFeatureContext<Config>(
  config: Config,
  given: Partial<
    Omit<FakeFeatureContext<Config>, "config" | "log" | "received" | "withdrawn" | "shared" | "perClient">
  > = {},
): FakeFeatureContext<Config> {
  const received: Inbound[] = [];
  const withdrawn: string[] = [];
  const { state = memorySecrets() } = given;
  const seen = new Set<string>();
  const { shared, perClient } = new FeatureStates();
  const noNetwork = () => Promise.reject(new SvcError("ADDRESS_REFUSED", "This test has no network."));
  return Object.freeze({
    config,
    siblings: {},
    homeFolder: "/nowhere",
    survey: null,
    child: noChild,
    log: captureLogger(),
    clock: fakeClock(),
    fetch: noNetwork,
    resolve: noNetwork,
    build: { version: "1.2.3", commit: "0123abc", profile: "test" },
    publicUrl: undefined,
    speech: fakeSpeech(),
    readings: () => NO_READINGS,
    pairedClient: (kept: string) => kept as ClientId,
    shared,
    perClient,
    secrets: memorySecrets(),
    secretsOf: memorySecretsByClient().of,
    state,
    received,
    withdrawn,
    receive: async (messages: readonly Inbound[], more: ReceivedWith = {}) => {
      for (const [name, value] of Object.entries(more.state ?? {})) await state.set(name, value);
      withdrawn.push(...(more.withdrawn ?? []));
      return messages.map((message) => {
        if (message.id !== undefined && seen.has(message.id)) return "duplicate";
        if (message.id !== undefined) seen.add(message.id);
        received.push(message);
        return "kept";
      });
    },
    ...given,
  });
}

const noChild = (): never => {
  throw new TypeError("this test starts no processes");
};

/** A service that has nothing to do. */
export const NO_READINGS: Readings = Object.freeze({
  inbox: { count: 0, oldestAgeMs: 0 },
  outbox: { count: 0, oldestAgeMs: 0 },
  dead: { received: 0, toSend: 0 },
  approvalsWaiting: 0,
  sopRuns: 0,
  turnsRunning: 0,
  eventSubscribers: 0,
  connections: 0,
  devices: 0,
  features: [],
});
