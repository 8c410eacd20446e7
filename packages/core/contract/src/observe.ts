/**
 * The interface of an observability backend: events as they happen, spans from beginning to end, and current gauges.
 * It never throws and never blocks, and unobserved signals cost nothing.
 */
import type { SvcEvent } from "./events.ts";
import type { ErrorCode } from "./error-codes.ts";
import type { Json } from "./json.ts";

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

// Pieces of work that take time, each part of another: a request or a message, its turn, the turn's calls of model and tools, the
// deliveries of its answer. Metrics count them, traces draw them. A trace context is a W3C `traceparent`
// (https://www.w3.org/TR/trace-context/), kept with messages so that a trace goes on over a restart.

/** Attributes of a span, known when it begins. They hold no person's text; `route` and names are from bounded sets. */
export interface WorkFacts {
  /** An HTTP request. */
  readonly request: {
    readonly method: string;
    /** The pattern of the route, never the requested path: `/api/sessions/{id}`; `other` without a route. */
    readonly route: string;
  };
  /** A channel's message, from its commit to the beginning of its turn. */
  readonly inbox: { readonly channel: string; readonly messageId: string };
  readonly turn: {
    readonly turnId: string;
    readonly sessionId: string;
    readonly agent: string;
    readonly model: string;
    /** Where the message came from; undefined: over HTTP or the page, or by a procedure. */
    readonly channel: string | undefined;
  };
  readonly "model-call": {
    readonly agent: string;
    /** As in `[model] provider`. */
    readonly provider: string;
    readonly model: string;
    /** From 0. */
    readonly step: number;
  };
  readonly "tool-call": { readonly tool: string; readonly callId: string };
  /** A command in the sandbox. */
  readonly command: { readonly backend: string };
  /** One try to deliver a message. */
  readonly delivery: {
    readonly channel: string;
    /** e.g. `out-12`. */
    readonly messageId: string;
    /** From 1. */
    readonly attempt: number;
  };
}

export interface WorkResults {
  readonly request: {
    /** HTTP status; undefined: the client went away before there was one. */
    readonly status: number | undefined;
  };
  readonly inbox: Ended;
  readonly turn: Ended & Usage;
  readonly "model-call": Ended & Usage;
  readonly "tool-call": Ended;
  readonly command: {
    readonly outcome: "exited" | "signalled" | "timed-out" | "failed";
    readonly exitCode: number | undefined;
  };
  readonly delivery: Ended;
}

interface Ended {
  /** undefined: it went well. */
  readonly error: ErrorCode | undefined;
}

interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined when the model's price is unknown. */
  readonly costUsd: number | undefined;
}

export type WorkKind = keyof WorkFacts;

export interface Work<Kind extends WorkKind = WorkKind> {
  readonly kind: Kind;
  readonly facts: WorkFacts[Kind];
  /** `traceparent` of the parent span, well formed; undefined for a root span. */
  readonly parent: string | undefined;
  /** Milliseconds since the epoch, with fractions. May lie before the moment of this call. */
  readonly startedAtMs: number;
}

/** The observer of one span. */
export interface WorkWatch<Kind extends WorkKind = WorkKind> {
  /** Passed on to child spans and to other services. */
  readonly traceparent?: string;
  /**
   * Only where the operator wants what was said to be recorded: of a model call the messages that go in and come out, of
   * a tool call its input and its result, of a turn the question and the answer. Without secrets.
   */
  content?(direction: "input" | "output", said: Json): void;
  /** Once. */
  end(result: WorkResults[Kind], endedAtMs: number): void;
}

/** Whether a text is a `traceparent` of version 00 that may be taken from others: neither id is all zeros. */
export const isTraceparent = (text: string): boolean =>
  /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
