/**
 * Two folders of a package that import each other's values are one subject in two places: neither can be read, tested or moved alone.
 * Types don't count, and neither do a folder and the one that it lies in.
 */
import { posix } from "node:path";
import type { Check, Finding } from "../check.ts";
import { isTest, type Source } from "@svc/source";

export const folderWalls: Check = {
  id: "folder-walls",
  rule: "No two folders of a package import each other's values.",
  find(workspace) {
    const sources = workspace.sources((file) => SHIPPED.test(file) && !isTest(file));
    const imports = sources.flatMap(importsOf);
    const pairs = new Set(imports.map(({ from, to }) => `${from} ${to}`));
    const reported = new Set<string>();
    return imports.flatMap(({ from, to, file, line }): Finding[] => {
      const pair = [from, to].toSorted().join(" ");
      if (!pairs.has(`${to} ${from}`) || reported.has(pair)) return [];
      reported.add(pair);
      const message = `${from} imports values of ${to}, which imports values of it.`;
      const fix = "Move what both need into a file that imports neither, or join the two.";
      return [{ file, line, message, fix }];
    });
  },
};

const SHIPPED = /^(?:apps|packages\/(?:core|features))\/[^/]+\/src\//;

interface Crossing {
  readonly from: string;
  readonly to: string;
  readonly file: string;
  readonly line: number;
}

function importsOf({ file, imports }: Source): Crossing[] {
  const from = posix.dirname(file);
  return imports.flatMap(({ specifier, typeOnly, line }) => {
    if (typeOnly || !specifier.startsWith(".")) return [];
    const to = posix.dirname(posix.join(from, specifier));
    return holds(from, to) || holds(to, from) ? [] : [{ from, to, file, line }];
  });
}

/** Whether a folder is the other one, or lies in it. */
const holds = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`);
