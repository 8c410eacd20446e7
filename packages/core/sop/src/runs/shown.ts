/** Procedures and runs as people see them: without the configured secrets that somebody has written, or sent, into them. */
import type { Json } from "@svc/contract";
import type { SopRun } from "@svc/store";
import type { BrokenSop, SopDefinition } from "../library/types.ts";
import type { SopRunDetail, SopRunPage, SopSummary } from "./types.ts";

export interface Shown {
  summary(summary: SopSummary): SopSummary;
  broken(broken: BrokenSop): BrokenSop;
  page(page: SopRunPage): SopRunPage;
  detail(detail: SopRunDetail): SopRunDetail;
}

/** What runs work with stays as it is. */
export function shownWithout(redact: (text: string) => string): Shown {
  const deep = (value: Json): Json => {
    if (typeof value === "string") return redact(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(deep);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner)]));
  };
  /** Nearly none has one, and a list may be of thousands. */
  const whole = (value: Json): Json => {
    const text = JSON.stringify(value);
    return redact(text) === text ? value : deep(value);
  };
  const run = (shown: SopRun): SopRun => ({
    ...shown,
    definition: whole(shown.definition),
    topic: redact(shown.topic),
    payload: shown.payload === null ? null : redact(shown.payload),
  });
  return {
    summary: ({ definition, problem, lastRun, ...rest }) => ({
      ...rest,
      definition: whole(definition as unknown as Json) as unknown as SopDefinition,
      problem: problem && redact(problem),
      lastRun: lastRun && run(lastRun),
    }),
    broken: ({ name, problem }) => ({ name, problem: redact(problem) }),
    page: ({ runs, next }) => ({ runs: runs.map(run), next }),
    detail: ({ run: one, steps }) => ({ run: run(one), steps }),
  };
}
