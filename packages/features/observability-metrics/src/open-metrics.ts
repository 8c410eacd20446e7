/** The series of one service, and who fills them. Evaluated when the feature registers: prom-client takes its time to load. */
import type { Exposition, FeatureContext, Observer } from "@svc/contract";
import { Gauge, Registry } from "prom-client";
import { openCounted } from "./series.ts";
import { openProcess, openReadings } from "./readings.ts";
import { watchEvents, watchWork } from "./watch.ts";
import { setImmediate } from "node:timers/promises";

export interface Metrics extends Required<Observer> {
  close(): void;
}

export function openMetrics(context: Pick<FeatureContext, "build" | "readings" | "log" | "clock">): Metrics {
  const { build, readings, log, clock } = context;
  const counted = openCounted();
  const asked = new Registry();
  new Gauge({
    name: "svc_build_info",
    help: "The build that runs: always 1.",
    labelNames: ["version", "commit", "profile"],
    registers: [asked],
  }).set({ version: build.version, commit: build.commit, profile: build.profile }, 1);
  const stand = openReadings(asked, readings, log);
  const own = openProcess(asked, clock);
  return {
    record: watchEvents(counted),
    begin: watchWork(counted),
    exposition: expositionOf({
      async refresh() {
        stand();
        await own.refresh();
      },
      slices: () => [...Object.values(counted).flatMap((family) => family.slices()), () => asked.metrics()],
    }),
    close: () => own.close(),
  };
}

/** All series as one text, written in slices between which other work runs. */
interface Source {
  /** Updates the gauges that are read for each scrape. Never rejects. */
  refresh(): Promise<void>;
  /** Each writes a part of the text, in about a millisecond. */
  slices(): readonly (() => Promise<string>)[];
}

export function expositionOf(source: Source): Exposition {
  const write = async (): Promise<string> => {
    await source.refresh();
    let text = "";
    for (const slice of source.slices()) {
      await setImmediate();
      text += await slice();
    }
    return text;
  };
  // Concurrent callers share one rendering, so that many at once cost no more than one.
  let running: Promise<string> | undefined;
  return { text: () => (running ??= write().finally(() => (running = undefined))) };
}
