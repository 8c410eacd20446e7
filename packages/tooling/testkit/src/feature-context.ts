/** What a feature is handed, in this process: a clock that stands still, a log that is read, no network unless given one. */
import {
  type ClientId,
  type EndedLocked,
  type FeatureContext,
  type Inbound,
  type Json,
  type Readings,
  type ReceivedWith,
  SvcError,
  type TriggerEvent,
  type SvcEvent,
} from "@svc/contract";
import { FeatureStates } from "@svc/runtime";
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
  /** What became of `locked` ones. */
  readonly ended: readonly EndedLocked[];
  /** What the feature gave to `trigger`, in order. */
  readonly triggered: readonly TriggerEvent[];
  /** Events that it published, in order. */
  readonly published: readonly SvcEvent[];
  /** Lines that it added to the audit log, in order. */
  readonly audited: readonly AuditedLine[];
}

export interface AuditedLine {
  readonly kind: string;
  readonly data: Json;
}

export function fakeFeatureContext<Config>(
  config: Config,
  given: Partial<
    Omit<
      FakeFeatureContext<Config>,
      | "config"
      | "log"
      | "received"
      | "withdrawn"
      | "ended"
      | "triggered"
      | "published"
      | "audited"
      | "shared"
      | "perClient"
    >
  > = {},
): FakeFeatureContext<Config> {
  const received: Inbound[] = [];
  const withdrawn: string[] = [];
  const ended: EndedLocked[] = [];
  const locked = new Set<string>();
  const triggered: TriggerEvent[] = [];
  const published: SvcEvent[] = [];
  const audited: AuditedLine[] = [];
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
    build: { version: "1.2.3", commit: "0123abc", profile: "test", recipe: { profile: "test", with: [], without: [] } },
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
    ended,
    triggered,
    trigger: async (event, more = {}) => {
      for (const [name, value] of Object.entries(more.state ?? {})) await state.set(name, value);
      triggered.push(event);
      return { fits: true, runs: [{ sop: "a-procedure", runId: `r-${triggered.length}` }], skipped: [] };
    },
    published,
    publish: (event: SvcEvent) => void published.push(event),
    audited,
    audit: async (kind: string, data: Json) => void audited.push({ kind, data }),
    capabilities: () => [],
    agents: { callerOf: noAgents, rightsOf: noAgents, operator: noAgents, lend: noAgents, onTurnEnd: () => () => {} },
    refresh: () => {},
    receive: async (messages: readonly Inbound[], more: ReceivedWith = {}) => {
      for (const [name, value] of Object.entries(more.state ?? {})) await state.set(name, value);
      withdrawn.push(...(more.withdrawn ?? []));
      ended.push(...(more.ended ?? []));
      for (const id of [...(more.withdrawn ?? []), ...(more.ended ?? []).map((one) => one.id)]) locked.delete(id);
      return messages.map(({ unlocks, ...message }) => {
        if (message.id !== undefined && seen.has(message.id) && !(unlocks && locked.delete(message.id)))
          return "duplicate";
        if (message.id !== undefined) seen.add(message.id);
        if (message.id !== undefined && message.kind === "locked") locked.add(message.id);
        received.push(message);
        return "kept";
      });
    },
    ...given,
  });
}

const noAgents = (): never => {
  throw new TypeError("this test lends no agents");
};

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
