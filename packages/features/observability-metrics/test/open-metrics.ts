/** The feature in use, as the service uses it, and what it exposes. */
import type { Json, Observer, Readings, WorkFacts, WorkKind, WorkResults } from "@svc/contract";
import { type ExposedFamily, parseExposition } from "@svc/testkit/conformance/observer-conformance";
import { fakeFeatureContext, NO_READINGS } from "@svc/testkit/feature-context";
import definition from "../src/index.ts";

export interface OpenedMetrics extends AsyncDisposable {
  readonly observer: Observer;
  /** Lines that its logger was told. */
  readonly log: ReturnType<typeof fakeFeatureContext>["log"];
  text(): Promise<string>;
  families(): Promise<ReadonlyMap<string, ExposedFamily>>;
  /** The series of a name, by their labels as `name=value` joined by spaces; without `le`. */
  series(name: string): Promise<Readonly<Record<string, number>>>;
  /** A piece of work that took that long. */
  work<Kind extends WorkKind>(kind: Kind, facts: WorkFacts[Kind], result: WorkResults[Kind], seconds?: number): void;
}

export async function openMetrics(readings: () => Readings = () => NO_READINGS): Promise<OpenedMetrics> {
  const context = fakeFeatureContext<Json>({ backend: "metrics" }, { readings });
  const { create } = await definition.load();
  const { observer, register, shutdown } = create(context as never);
  await register!(new AbortController().signal);
  const text = (): Promise<string> => observer!.exposition!.text();
  const families = async () => new Map((await text().then(parseExposition)).map((family) => [family.name, family]));
  return {
    observer: observer!,
    log: context.log,
    text,
    families,
    async series(name) {
      const all = [...(await families()).values()].flatMap(({ samples }) => samples);
      const own = all.filter((sample) => sample.name === name);
      return Object.fromEntries(own.map(({ labels, value }) => [keyOf(labels), value]));
    },
    work(kind, facts, result, seconds = 0) {
      const startedAtMs = 1_767_225_600_000;
      observer!.begin!({ kind, facts, parent: undefined, startedAtMs })!.end(result, startedAtMs + seconds * 1000);
    },
    [Symbol.asyncDispose]: async () => shutdown!(),
  };
}

const keyOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(" ");
