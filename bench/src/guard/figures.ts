/** What the guard measures, and which builds it compares: `bench/baseline.json` names them for each figure. */
import { readFileSync } from "node:fs";

/** Measured together, in the same processes. */
export type Part = "turns" | "ingest" | "start" | "version";

export interface Figure {
  readonly id: string;
  readonly part: Part;
  readonly name: string;
  readonly unit: string;
  /** Whether the guard fails when it is worse; the others are shown. */
  readonly isJudged: boolean;
}

const figure = (id: string, part: Part, name: string, unit: string, isJudged = true): Figure => ({
  id,
  part,
  name,
  unit,
  isJudged,
});

export const FIGURES: readonly Figure[] = [
  figure("turn-1", "turns", "whole turn, 1 connection", "CPU µs"),
  figure("turn-10", "turns", "whole turn, 10 connections", "CPU µs"),
  figure("turn-50", "turns", "whole turn, 50 connections", "CPU µs"),
  figure("ingest-50", "ingest", "durable delivery, 50 connections", "CPU µs"),
  figure("start", "start", "start to /health", "ms"),
  figure("version", "version", "svc --version", "ms"),
  figure("memory", "turns", "idle memory", "MB"),
  figure("health-50", "turns", "GET /health, 50 connections", "CPU µs", false),
  figure("refused-50", "turns", "POST /webhook with a wrong token, 50 connections", "CPU µs", false),
];

/** Commits, whole hashes. */
export interface Reference {
  /** What the figure is judged against. */
  readonly reference: string;
  /** The best there ever was. */
  readonly best: string;
}

export type Baseline = ReadonlyMap<string, Reference>;

const FILE = new URL("../../baseline.json", import.meta.url);

/** @throws Error when it does not name two commits for each figure, and nothing else. */
export function readBaseline(text: string = readFileSync(FILE, "utf8")): Baseline {
  const json = JSON.parse(text) as Record<string, Partial<Reference>>;
  const unknown = Object.keys(json).find((id) => !FIGURES.some((known) => known.id === id));
  if (unknown !== undefined) throw new Error(`bench/baseline.json names an unknown figure: ${unknown}.`);
  return new Map(
    FIGURES.map(({ id }) => {
      const { reference = "", best = "" } = json[id] ?? {};
      for (const commit of [reference, best]) {
        if (!/^[0-9a-f]{40}$/.test(commit)) {
          throw new Error(`bench/baseline.json needs "reference" and "best" of ${id}, each a whole commit hash.`);
        }
      }
      return [id, { reference, best }];
    }),
  );
}
