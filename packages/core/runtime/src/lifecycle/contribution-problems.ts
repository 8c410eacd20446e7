/** What constructed features get wrong among each other and against core. Pure; runs before any I/O. */
import { SvcError, TOOL_NAME } from "@svc/contract";
import type { RegistryPart } from "../registry/registry.ts";
import { hasDoubledName, isRoutePath, pathsMeet } from "../registry/route-paths.ts";

/** Names that only core may use, beside those of core's own parts. */
export interface ReservedNames {
  readonly tools?: readonly string[];
  readonly sandboxes?: readonly string[];
  readonly channels?: readonly string[];
  /** Paths of any method; a segment `:name`, `{name}` or `*` stands for any one segment. */
  readonly paths?: readonly string[];
}

const MEDIA_TYPE = /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/;
const SANDBOX_ID = /^[a-z][a-z0-9_-]{0,63}$/;
const CHANNEL_ID = /^[a-z][a-z0-9_]{0,63}$/;
const INGRESS_PATH = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;
const INGRESS_METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT"]);

/** Every problem as a sentence. `core` comes first in `parts`, so that a clash names the feature as the newcomer. */
export function contributionProblems(
  parts: readonly RegistryPart[],
  reserved: ReservedNames,
  openPaths: RouteRules["openPaths"],
): string[] {
  const problems: string[] = [];
  const tools = new Claims("tool", reserved.tools, problems);
  const readers = new Claims("reader of", [], problems);
  const sandboxes = new Claims("sandbox backend", reserved.sandboxes, problems);
  const channels = new Claims("channel", reserved.channels, problems);
  const ingress = new Claims("ingress path", [], problems);
  const expositions = new Claims("exposition", [], problems);
  const { paths: corePaths = [] } = reserved;

  for (const part of parts) {
    const who = part.feature === "core" ? "core" : `feature ${JSON.stringify(part.feature)}`;
    const bad = (kind: string, name: string, rule: string) =>
      problems.push(`${who}: bad ${kind} ${JSON.stringify(name.slice(0, 100))} (${rule})`);
    for (const { name } of part.tools) {
      if (!TOOL_NAME.test(name)) bad("tool name", name, "a-z, then a-z 0-9 _, at most 64");
      tools.claim(name, who);
    }
    for (const { type } of part.readers) {
      if (!MEDIA_TYPE.test(type)) bad("media type of a reader", type, "type/subtype, in lower case");
      readers.claim(type, who);
    }
    for (const { id } of part.sandboxes) {
      if (!SANDBOX_ID.test(id)) bad("sandbox backend id", id, "a-z, then a-z 0-9 _ -, at most 64");
      sandboxes.claim(id, who);
    }
    for (const [id] of part.channels) {
      if (!CHANNEL_ID.test(id)) bad("channel id", id, "a-z, then a-z 0-9 _, at most 64");
      channels.claim(id, who);
    }
    for (const [, { path, methods }] of part.ingress) {
      if (!INGRESS_PATH.test(path) || /^\/api(?:\/|$)/.test(path)) bad("ingress path", path, "literal, not below /api");
      if (methods.length === 0 || !methods.every((method) => INGRESS_METHODS.has(method))) {
        bad("ingress methods", methods.join(" "), "some of GET, POST and PUT");
      }
      if (who !== "core" && corePaths.some((core) => pathsMeet(core, path))) {
        problems.push(`ingress path ${JSON.stringify(path)} of ${who} is a path of core`);
      }
      ingress.claim(path, who);
    }
    for (const { exposition } of part.observers) if (exposition) expositions.claim("GET /metrics", who);
  }
  return [...problems, ...routeProblems(parts, { corePaths, openPaths })];
}

class Claims {
  readonly #kind: string;
  readonly #problems: string[];
  readonly #owners: Map<string, string>;
  readonly #reserved: ReadonlySet<string>;

  constructor(kind: string, reserved: readonly string[] = [], problems: string[]) {
    this.#kind = kind;
    this.#problems = problems;
    this.#owners = new Map();
    this.#reserved = new Set(reserved);
  }

  claim(name: string, who: string): void {
    const other = this.#owners.get(name) ?? (who !== "core" && this.#reserved.has(name) ? "core" : undefined);
    if (other === undefined) this.#owners.set(name, who);
    else this.#problems.push(`${this.#kind} ${JSON.stringify(name)} is offered by ${both(other, who)}`);
  }
}

const both = (first: string, second: string): string =>
  first === second ? `${first} twice` : `both ${first} and ${second}`;

/** FEATURE_CONFLICT with all of them in it. */
export function conflict(problems: readonly string[]): SvcError {
  const list = problems.map((problem) => `\n  - ${problem}`).join("");
  return new SvcError("FEATURE_CONFLICT", `Deps of this build contradict each other:${list}`, {
    hint: "Build without one of the features named, or rename what they share.",
  });
}

/** What the routes of features get wrong: their paths, those of core and of each other, and whom they let in. */
interface RouteRules {
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
function routeProblems(parts: readonly RegistryPart[], { corePaths, openPaths }: RouteRules): string[] {
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
