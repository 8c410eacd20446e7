/** A tracer that one recording observer watches, for the parts that take one. */
import type { Clock } from "@svc/contract";
import { type Tracer, createTracer } from "@svc/runtime";
import { type RecordingObserver, type RecordingOptions, recordingObserver } from "./recording-observer.ts";

export interface RecordedInstruments {
  readonly tracer: Tracer;
  readonly recorded: RecordingObserver;
  /** What the observer has thrown; empty, unless the contract was broken. */
  readonly thrown: readonly unknown[];
}

export function recordedInstruments(clock: Clock, options: RecordingOptions = {}): RecordedInstruments {
  const recorded = recordingObserver(options);
  const observers = [{ feature: "recorder", observer: recorded }];
  const thrown: unknown[] = [];
  const tracer = createTracer({
    clock,
    observers: () => observers,
    threw: (_feature, error) => void thrown.push(error),
  });
  return { tracer, recorded, thrown };
}
