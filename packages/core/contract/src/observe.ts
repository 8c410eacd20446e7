/**
 * The interface of an observability backend: events as they happen, spans from beginning to end, and current gauges.
 * It never throws and never blocks, and unobserved signals cost nothing.
 */
import type { SvcEvent } from "./events.ts";
import type { Work, WorkKind, WorkWatch } from "./work.ts";

export interface Observer {
  /** Sees every event. Never throws, never blocks. */
  record(event: SvcEvent): void;
  /** Sees the beginning of every piece of work; `undefined`: its end does not matter. Never throws, never blocks. */
  begin?<Kind extends WorkKind>(work: Work<Kind>): WorkWatch<Kind> | undefined;
  /** What `GET /metrics` answers. At most one observer of a process has it. */
  readonly exposition?: Exposition;
}

/** Numbers in the text exposition format, https://prometheus.io/docs/instrumenting/exposition_formats/. */
export interface Exposition {
  /** Without blocking the event loop for more than 10 ms at a time. */
  text(): Promise<string>;
}

/** How the service stands now: cheap to ask, a few times a minute. */
export interface Readings {
  /** Messages of channels that wait for their turn or are in it. */
  readonly inbox: Waiting;
  /** Messages that wait to be sent. */
  readonly outbox: Waiting;
  /** Failed messages, until an operator replays or drops them. */
  readonly dead: { readonly received: number; readonly toSend: number };
  readonly approvalsWaiting: number;
  /** Runs of procedures that have not ended. */
  readonly sopRuns: number;
  readonly turnsRunning: number;
  /** Subscribers of events: pages and programs. */
  readonly eventSubscribers: number;
  readonly connections: number;
  readonly devices: number;
  readonly features: readonly { readonly id: string; readonly isUp: boolean }[];
}

export interface Waiting {
  readonly count: number;
  /** Milliseconds since the oldest of them came; 0 for an empty queue. */
  readonly oldestAgeMs: number;
}
