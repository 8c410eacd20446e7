/** Facts about a file, computed once. */
import type { Node } from "oxc-parser";
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

/** What is kept or changed. */
export interface State {
  /** Of what is kept or changed; empty where it has none. */
  readonly name: string;
  readonly node: Node;
  readonly message: string;
}
