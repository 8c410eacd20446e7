/** What every test here does: run one check over a few files and read `file:line message`. */
import type { Check } from "../src/check.ts";
import { inMemory } from "../src/workspace.ts";

export const judge = (check: Check, files: Readonly<Record<string, string>>): string[] =>
  check
    .find(inMemory(files))
    .map(({ file, line, message, warning }) => `${file}:${line ?? 0} ${warning ? "warning: " : ""}${message}`);

/** A package.json with a name and dependencies. */
export const manifestFile = (name: string, extra: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ name, ...extra }, null, 2);
