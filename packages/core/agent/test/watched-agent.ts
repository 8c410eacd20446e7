/** An agent that a recording observer watches. */
import { fakeClock, type RecordedInstruments, recordedInstruments, type RecordingOptions } from "@svc/testkit";
import { type House, house, type HouseOptions } from "./house.ts";

export function watchedAgent(
  options: HouseOptions = {},
  recording: RecordingOptions = {},
): House & RecordedInstruments {
  const { clock = fakeClock() } = options;
  const watched = recordedInstruments(clock, recording);
  return { ...watched, ...house({ ...options, clock, instruments: watched.instruments }) };
}
