/** What a step is given. */
import type { Json } from "@svc/contract";
import type { SopRun, Store } from "@svc/store";
import { stepOf } from "./definition.ts";

/** What the last step that did something gave; undefined: there is none. A checkpoint only lets through. */
export function outputBefore({ sopRuns }: Pick<Store, "sopRuns">, run: SopRun, number: number): Json | undefined {
  let before = number - 1;
  while (stepOf(run, before)?.kind === "checkpoint") before -= 1;
  return sopRuns.steps.output(run.n, before);
}

/** Of a step without a model: the first is given the payload. */
export function inputOf(store: Pick<Store, "sopRuns">, run: SopRun, number: number): Json {
  const before = outputBefore(store, run, number);
  return before === undefined ? payloadOf(run) : before;
}

/** As a model and people read it: text as it is, all else as JSON. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function payloadOf({ payload }: SopRun): Json {
  if (payload === null) return null;
  try {
    return JSON.parse(payload) as Json;
  } catch {
    return payload;
  }
}
