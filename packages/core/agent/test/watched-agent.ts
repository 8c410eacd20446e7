/** An agent that a recording observer watches. */
import { fakeClock } from "@svc/testkit/fake-clock";
import { type RecordedInstruments, recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import type { RecordingOptions } from "@svc/testkit/observe/recording-observer";
import { type AgentFixture, agentFixture, type AgentFixtureOptions } from "./agent-fixture.ts";

export function watchedAgent(
  options: AgentFixtureOptions = {},
  recording: RecordingOptions = {},
): AgentFixture & RecordedInstruments {
  const { clock = fakeClock() } = options;
  const watched = recordedInstruments(clock, recording);
  return { ...watched, ...agentFixture({ ...options, clock, tracer: watched.tracer }) };
}
