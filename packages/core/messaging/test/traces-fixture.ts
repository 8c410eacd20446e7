/** Messaging that a recording observer watches, and how traces look in it. */
import { fakeClock } from "@svc/testkit/fake-clock";
import { type RecordedInstruments, recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import type { RecordingOptions } from "@svc/testkit/observe/recording-observer";
import { type MessagingFixture, messagingFixture, type MessagingFixtureOptions } from "./messaging-fixture.ts";

export type WatchedFixture = MessagingFixture & RecordedInstruments;

export function watchedFixture(
  options: MessagingFixtureOptions = {},
  recording: RecordingOptions = {},
): WatchedFixture {
  const { clock = fakeClock() } = options;
  const watched = recordedInstruments(clock, recording);
  const made = messagingFixture({ ...options, clock, tracer: watched.tracer });
  return { ...made, ...watched, [Symbol.dispose]: () => made[Symbol.dispose]() };
}

/** Whose ids are of this digit. */
export const traceparent = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

/** Id of the trace. */
export const traceOf = (parent: string | undefined): string | undefined => parent?.slice(3, 35);

/** What came of them: `ok`, a code, or `open`. */
export const errorsOf = (works: RecordedInstruments["recorded"]["works"]): unknown[] =>
  works.map(({ result }) => (result && "error" in result ? (result.error ?? "ok") : "open"));

/** Of a message that a long connection brought, and that was answered. */
export const TREE = ["inbox", "  turn", "    model-call", "    delivery"];
