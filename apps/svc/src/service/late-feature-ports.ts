/** What features and core's own tools reach of a service that is put together after them. */
import { type Agent, callerOf } from "@svc/agent";
import { DEFAULT_AGENT } from "@svc/config";
import {
  type AgentAccess,
  type Inbound,
  type Json,
  type Kept,
  type Readings,
  type Speech,
  SvcError,
  type SvcEvent,
  type Triggered,
  type TriggeredWith,
  type TriggerEvent,
} from "@svc/contract";
import { proceduresIdentity } from "@svc/gateway/identity";
import { receivedEvents } from "@svc/gateway/sop-events";
import type { InTransaction, Messaging } from "@svc/messaging";
import type { Registry } from "@svc/runtime";
import type { Approvals, Sops, SopToolDeps } from "@svc/sop";
import type { Store } from "@svc/store";
import { type FeaturePorts, named, type OwnedMore } from "./features.ts";
import type { Governance } from "./governance/governance.ts";
import { localClient } from "./local-client.ts";

/** Of a topic in who started a run. */
const LONGEST_TOPIC = 200;

interface Opened {
  readonly agent: Agent;
  readonly messaging: Messaging;
  readonly governance: Governance;
  readonly registry: () => Registry;
  readonly readings: () => Readings;
  readonly publish: NonNullable<FeaturePorts["publish"]>;
  readonly refresh: () => void;
}

export class LateFeaturePorts implements FeaturePorts, SopToolDeps {
  #store: Store | undefined;
  #opened: Opened | undefined;
  readonly #turnEnds = new Set<(turnId: string) => void>();

  openStore(store: Store): Store {
    this.#store = store;
    return store;
  }

  open(opened: Opened): void {
    this.#opened = opened;
  }

  store(): Store {
    if (!this.#store) throw new SvcError("STORE_FAILED", "The database is not open yet.");
    return this.#store;
  }

  messaging(): Messaging {
    return this.#service().messaging;
  }

  governance(): Governance {
    return this.#service().governance;
  }

  readonly sops = (): Sops => this.governance().sops;
  readonly approvals = (): Approvals => this.governance().approvals;

  async receive(channel: string, messages: readonly Inbound[], more?: OwnedMore): Promise<readonly Kept[]> {
    const { messaging, governance, registry } = this.#service();
    const events = receivedEvents(governance.sops, registry().ingress, channel);
    const { owner = "", state = {}, ...changes } = more ?? {};
    const texts = Object.entries(state).map(([name, value]) => [named(name), value] as const);
    const inTransaction: InTransaction = (arrival, arrived) => {
      for (const [name, value] of texts) this.store().state.setIn(owner, name, value);
      return events?.(arrival, arrived);
    };
    return messaging.receive(channel, messages, inTransaction, changes);
  }

  async trigger(owner: string, event: TriggerEvent, { state = {} }: TriggeredWith = {}): Promise<Triggered> {
    const { sops } = this.#service().governance;
    // A broker may send thousands of messages a second that no procedure waits for.
    if (!sops.fits(event)) return { fits: false, runs: [], skipped: [] };
    const texts = Object.entries(state).map(([name, value]) => [named(name), value] as const);
    const { result, committed } = await this.store().write(() => {
      for (const [name, value] of texts) this.store().state.setIn(owner, name, value);
      return sops.dispatchIn(event, { by: `${event.source} ${event.topic.slice(0, LONGEST_TOPIC).toWellFormed()}` });
    });
    committed();
    return { fits: true, ...result };
  }

  readonly readings = (): Readings => this.#service().readings();

  readonly publish: NonNullable<FeaturePorts["publish"]> = (event) => this.#opened?.publish(event);

  async audit(kind: string, data: Json): Promise<void> {
    const { audit } = this.#service().governance.sops;
    await this.store().write(() => audit.add(kind, data));
  }

  readonly agents: AgentAccess = {
    callerOf,
    rightsOf: (agent = DEFAULT_AGENT) => {
      // Throws for one that there is not.
      this.#service().agent.lend({ agent }, { turnId: "", clientId: proceduresIdentity() });
      return { agent };
    },
    operator: () => localClient(this.store()),
    lend: (rights, borrower) => this.#service().agent.lend(rights, borrower),
    onTurnEnd: (listener) => {
      this.#turnEnds.add(listener);
      return () => this.#turnEnds.delete(listener);
    },
  };

  /** What this turn made and did not detach ends. */
  turnEnded(turnId: string): void {
    for (const listener of this.#turnEnds) listener(turnId);
  }

  /** Told every event of the service. */
  watch(event: SvcEvent): void {
    if (event.type === "turn-end") this.turnEnded(event.turnId);
  }

  readonly refresh = (): void => this.#opened?.refresh();

  readonly speech: Speech = lateSpeech(() => this.#opened?.messaging.speech ?? NO_SPEECH);

  #service(): Opened {
    if (!this.#opened) throw new SvcError("CHANNEL_DOWN", "The service takes no messages yet.");
    return this.#opened;
  }
}

/** The one there is when it is asked for something. */
const lateSpeech = (now: () => Speech): Speech => ({
  get canTranscribe() {
    return now().canTranscribe;
  },
  get canSpeak() {
    return now().canSpeak;
  },
  get plays() {
    return now().plays;
  },
  transcribe: (recording, signal) => now().transcribe(recording, signal),
  speak: (text, signal, format) => now().speak(text, signal, format),
});

const notYet = (): Promise<never> => Promise.reject(new SvcError("CHANNEL_DOWN", "The service has no speech yet."));
const NO_SPEECH: Speech = { canTranscribe: false, canSpeak: false, plays: false, transcribe: notYet, speak: notYet };
