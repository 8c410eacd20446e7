/** What is known of each procedure: its last good version, and what is wrong with the newest. */
import { isDeepStrictEqual } from "node:util";
import { type Problem, formatProblems } from "@svc/config";
import { indexTriggers, type TriggerIndex } from "../triggers/trigger-index.ts";
import type { CheckedSop } from "./definition.ts";
import type { BrokenSop, LoadedSop, SopDefinition } from "./types.ts";

export interface Kept {
  /** Of the files that were read. */
  readonly stamp: string;
  readonly definition: SopDefinition | undefined;
  readonly problem: string | undefined;
}

/** By name. */
export type Shelf = ReadonlyMap<string, Kept>;

/** A version that is wrong does not take the place of one that was right. */
export function kept(before: Kept | undefined, stamp: string, { definition, problems, isMissing }: CheckedSop): Kept {
  const last = isMissing ? undefined : before?.definition;
  // The same object, so that whoever compares sees no change in a file that was only touched.
  if (definition)
    return { stamp, definition: isDeepStrictEqual(last, definition) ? last : definition, problem: undefined };
  return { stamp, definition: last, problem: sentenceOf(problems) };
}

/** The first of them, with file and line. */
function sentenceOf([first, ...more]: readonly Problem[]): string {
  const rest = more.length === 0 ? "" : `; and ${more.length} more (svc sop validate)`;
  return first ? `${formatProblems([first])}${rest}` : "";
}

export interface Shown extends TriggerIndex {
  readonly list: readonly LoadedSop[];
  readonly broken: readonly BrokenSop[];
  get(name: string): LoadedSop | undefined;
}

export function shown(shelf: Shelf): Shown {
  const list: LoadedSop[] = [];
  const broken: BrokenSop[] = [];
  for (const [name, { definition, problem }] of shelf) {
    if (definition) list.push({ definition, problem });
    else if (problem !== undefined) broken.push({ name, problem });
  }
  const byName = new Map(list.map((one) => [one.definition.name, one]));
  return { list, broken, get: (name) => byName.get(name), ...indexTriggers(list.map(({ definition }) => definition)) };
}

export interface Change {
  readonly name: string;
  readonly kind: "loaded" | "removed" | "turned-bad" | "broken";
  readonly problem?: string;
}

export function changes(before: Shelf, after: Shelf): Change[] {
  const removed = [...before].flatMap(([name, { definition }]): Change[] =>
    definition && !after.get(name)?.definition ? [{ name, kind: "removed" }] : [],
  );
  const others = [...after].flatMap(([name, now]): Change[] => {
    const was = before.get(name);
    if (was?.definition === now.definition && was?.problem === now.problem) return [];
    if (now.problem === undefined) return [{ name, kind: "loaded" }];
    return [{ name, kind: now.definition ? "turned-bad" : "broken", problem: now.problem }];
  });
  return [...removed, ...others];
}
