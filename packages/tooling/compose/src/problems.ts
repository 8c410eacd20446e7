/** Sentences for what is wrong in a manifest or a profile, and "did you mean". */
import { closest, distance } from "fastest-levenshtein";
import * as v from "valibot";

/** One sentence per problem, `key: what is allowed`; the value itself is never quoted. */
export function problemsOf(schema: v.GenericSchema, value: unknown): string[] {
  const result = v.safeParse(schema, value);
  return result.success ? [] : result.issues.map(sentence);
}

/** ` Did you mean "x"?`, or nothing when no name is near. */
export function didYouMean(word: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const near = closest(word, names);
  return distance(word, near) <= Math.max(2, Math.floor(word.length / 3)) ? ` Did you mean "${near}"?` : "";
}

function sentence(issue: v.BaseIssue<unknown>): string {
  const key = v.getDotPath(issue) ?? "(top)";
  if (issue.type === "strict_object") {
    if (issue.expected === "never") return `${key}: unknown key`;
    if (issue.received === "undefined") return `${key}: missing`;
  }
  if (issue.kind === "schema") return `${key}: must be ${issue.expected ?? "something else"}`;
  return `${key}: must be ${issue.message}`;
}
