/** What the routes of features get wrong: their paths, those of core and of each other, and whom they let in. */
import { hasDoubledName, isRoutePath, pathsMeet } from "../registry/route-paths.ts";
import type { RegistryPart } from "../registry/registry.ts";

export interface RouteRules {
  /** Paths of core, of any method. */
  readonly corePaths: readonly string[];
  /** Paths that may be open, by feature. */
  readonly openPaths: ReadonlyMap<string, readonly string[]>;
}

interface Claim {
  readonly who: string;
  readonly method: string;
  readonly path: string;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE"]);

/** Every problem as a sentence. */
export function routeProblems(parts: readonly RegistryPart[], { corePaths, openPaths }: RouteRules): string[] {
  const problems: string[] = [];
  const claims: Claim[] = [];
  for (const { feature, routes } of parts) {
    const who = feature === "core" ? "core" : `feature ${JSON.stringify(feature)}`;
    const bad = (kind: string, name: string, rule: string) =>
      problems.push(`${who}: bad ${kind} ${JSON.stringify(name.slice(0, 100))} (${rule})`);
    for (const { method, path, access } of routes) {
      const name = JSON.stringify(`${method} ${path}`);
      if (!METHODS.has(method)) bad("route method", method, "GET, POST, PUT or DELETE");
      if (!isRoutePath(path)) bad("route path", path, "below /api/, segments literal or {name}, no slash at the end");
      else if (hasDoubledName(path)) bad("route path", path, "each {name} once");
      if (who !== "core" && corePaths.some((core) => pathsMeet(core, path))) {
        problems.push(`route ${name} of ${who} is on a path of core`);
      }
      if (access === "open" && !openPaths.get(feature)?.includes(path)) {
        problems.push(`route ${name} of ${who} is open, and "open" of its manifest does not list the path`);
      }
      const claim = { who, method, path };
      const others = claims.filter((other) => clash(other, claim)).map((other) => clashOf(other, claim));
      problems.push(...new Set(others));
      claims.push(claim);
    }
  }
  return problems;
}

/** A path is one feature's, and its methods are found by one pattern: else nobody could say who is asked. */
const clash = (one: Claim, other: Claim): boolean =>
  pathsMeet(one.path, other.path) && (one.who !== other.who || one.path !== other.path || one.method === other.method);

function clashOf(one: Claim, other: Claim): string {
  const [first, second] = [one, other].map(({ method, path }) => JSON.stringify(`${method} ${path}`));
  if (first !== second) return `routes ${first} of ${one.who} and ${second} of ${other.who} are on the same paths`;
  const both = one.who === other.who ? `${one.who} twice` : `both ${one.who} and ${other.who}`;
  return `route ${first} is offered by ${both}`;
}
