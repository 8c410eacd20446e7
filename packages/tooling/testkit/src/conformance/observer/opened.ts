/** One observer in this process, registered, and what it was told. */
import type { Contributions, FeatureDefinition, Observer, WorkKind, WorkWatch } from "@svc/contract";
import { demand, outcomeOf } from "../../check.ts";
import { type FakeFeatureContext, fakeFeatureContext } from "../../feature-context.ts";
import { eventSamples, type Name, type WorkSamples, workSamples } from "./samples.ts";

export interface ObserverSubject {
  /** The section as it is validated, `[observability]` or its own, that turns it on. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What it is handed beside that, made for each check: `fetch`, say. */
  readonly context?: () => NonNullable<Parameters<typeof fakeFeatureContext>[1]>;
}

export interface OpenedObserver {
  readonly observer: Observer;
  readonly context: FakeFeatureContext<unknown>;
  readonly shutdown: () => Promise<void>;
}

/** A collector that is gone may be waited for. */
const LONGEST_SHUTDOWN_MS = 8_000;

export const constructed = async (
  definition: FeatureDefinition,
  { config, context: given }: ObserverSubject,
): Promise<{ made: Contributions; context: FakeFeatureContext<unknown> }> => {
  const context = fakeFeatureContext<unknown>(config, given?.());
  const { create } = await definition.load();
  return { made: create(context), context };
};

/** Whatever `look` does, it is shut down afterwards. */
export async function opened<T>(
  definition: FeatureDefinition,
  subject: ObserverSubject,
  look: (opened: OpenedObserver) => T | Promise<T>,
): Promise<T> {
  const { made, context } = await constructed(definition, subject);
  const { observer } = made;
  demand(observer !== undefined, "it contributes no observer");
  await made.register?.(new AbortController().signal);
  const shutdown = async (): Promise<void> => {
    const outcome = await outcomeOf(() => made.shutdown?.(), LONGEST_SHUTDOWN_MS);
    demand(outcome.kind !== "hung", `shutdown() goes on for ${LONGEST_SHUTDOWN_MS} ms`);
    if (outcome.kind === "rejected") throw outcome.error;
  };
  try {
    return await look({ observer, context, shutdown });
  } finally {
    await shutdown();
  }
}

/** What a kind of work began, its samples, and how it ended. */
export type Watched = { [Kind in WorkKind]: WorkWatch<Kind> | undefined };

/** Every event, and every kind of work once well and once badly. Throws what the observer throws. */
export function tellAll(observer: Observer, name: Name): void {
  for (const event of Object.values(eventSamples(name))) observer.record(event);
  for (const end of ["good", "bad"] as const) endAll(beginAll(observer, workSamples(name)), workSamples(name), end);
}

export function beginAll(observer: Observer, samples: WorkSamples, parent?: string): Watched {
  const begun = Object.values(samples).map(({ kind, facts }) => [
    kind,
    observer.begin?.({ kind, facts, parent, startedAtMs: 1_767_225_600_000.25 }),
  ]);
  return Object.fromEntries(begun) as Watched;
}

export function endAll(watched: Watched, samples: WorkSamples, end: "good" | "bad"): void {
  for (const kind of Object.keys(samples) as WorkKind[]) endOne(kind, watched, samples, end);
}

function endOne<Kind extends WorkKind>(kind: Kind, watched: Watched, samples: WorkSamples, end: "good" | "bad"): void {
  (watched[kind] as WorkWatch<Kind> | undefined)?.end(samples[kind][end], 1_767_225_601_500.75);
}
