/** An agent that a recording observer watches. */
import { fakeClock } from "@svc/testkit/fake-clock";
import { type RecordedInstruments, recordedInstruments } from "@svc/testkit/observe/recorded-instruments";
import type { RecordingOptions } from "@svc/testkit/observe/recording-observer";
import { type House, house, type HouseOptions } from "./agent-fixture.ts";

export function watchedAgent(
  options: HouseOptions = {},
  recording: RecordingOptions = {},
): House & RecordedInstruments {
  const { clock = fakeClock() } = options;
  const watched = recordedInstruments(clock, recording);
  return { ...watched, ...house({ ...options, clock, instruments: watched.instruments }) };
}
