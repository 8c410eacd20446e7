/** All that some files keep, or change, beyond the life of what they make. */
import type { Source } from "../source.ts";
import { changedThings } from "./changed-things.ts";
import type { Facts, State } from "./facts.ts";
import { type Initial, isSideTable, problemsOf } from "./initial.ts";
import { initialsOf, titleOf } from "./initials.ts";
import { Modules } from "./modules.ts";
import { regexProblems } from "./regexes.ts";
import { staticProblems } from "./statics.ts";

export interface FoundState {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
  /** What to do now. */
  readonly fix: string;
}

export interface ModuleStateOptions {
  /** Whether the file is a feature's, which may keep nothing at all. Default: every one is. */
  readonly isStrict?: (file: string) => boolean;
  /** What a file may keep or change all the same, by name. */
  readonly isExcepted?: (file: string, name: string) => boolean;
}

const FIX =
  "Keep it in the object that create() returns, or request it at construction: context.shared, context.perClient.";

/** The sources are judged together: what one makes, another may change. */
export function findModuleState(sources: readonly Source[], options: ModuleStateOptions = {}): FoundState[] {
  const { isStrict = () => true, isExcepted = () => false } = options;
  const modules = new Modules(sources);
  return sources.flatMap((source) => {
    const { file, lineOf } = source;
    const all = stateIn(modules.facts(source), modules, isStrict(file));
    return all
      .filter(({ name }) => !isExcepted(file, name))
      .map(({ node, message }) => ({ file, line: lineOf(node.start), message, fix: FIX }));
  });
}

function stateIn(facts: Facts, modules: Modules, isStrict: boolean): State[] {
  const initials = initialsOf(facts, isStrict);
  const tables = new Set<unknown>(initials.filter(isSideTable).map(({ declarator }) => declarator));
  const changing = [...variables(facts), ...changedThings(facts)].filter(({ node }) => !tables.has(node));
  const known = new Set(changing.map(({ node }) => node));
  // Report each changing value once, whatever its initial value.
  const held = initials
    .filter(({ declarator }) => declarator === undefined || !known.has(declarator))
    .flatMap((initial) => madeAt(initial, facts, modules));
  return [...changing, ...held, ...staticProblems(facts, modules, isStrict)];
}

const madeAt = (initial: Initial, facts: Facts, modules: Modules): State[] =>
  [...problemsOf(initial, facts, modules), ...regexProblems(initial, facts)].map(({ node, message }) => {
    const name = titleOf(initial);
    return { name, node, message: `${name} ${message}` };
  });

const variables = ({ scopes }: Facts): State[] =>
  scopes.module
    .filter(({ kind }) => kind === "let" || kind === "var" || kind === "using")
    .map(({ name, kind, node }) => ({ name, node, message: `${name} is a module-level ${kind}.` }));
