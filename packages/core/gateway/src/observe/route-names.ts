/** The route of a path that is looked for by pattern. Bounded, whatever paths are asked for. */
import { pathPattern } from "../routes/path-pattern.ts";
import { OTHER } from "./requests.ts";

/** `paths`: literal, or with segments `{name}`. */
export function routeNames(paths: readonly string[]): (path: string) => string {
  const literal = new Set(paths);
  const patterns = [...literal].filter((path) => path.includes("{")).map((path) => [pathPattern(path), path] as const);
  const nameOf = (path: string): string | undefined =>
    literal.has(path) ? path : patterns.find(([pattern]) => pattern.test(path))?.[1];
  return (path) => nameOf(path) ?? OTHER;
}
