/** Facts about a file, computed once. */
import type { Source } from "../source.ts";
import { type Change, changesOf, reassignmentsOf } from "./changes.ts";
import { type Scopes, scopesOf } from "./scopes.ts";

export interface Facts {
  readonly source: Source;
  readonly scopes: Scopes;
  readonly changes: readonly Change[];
  readonly reassignments: readonly Change[];
}

export function factsOf(source: Source): Facts {
  const scopes = scopesOf(source.program);
  const changes = changesOf(source.program, scopes);
  return { source, scopes, changes, reassignments: reassignmentsOf(source.program, scopes) };
}
