/** Conflicts of features among each other and with core: of what they contribute, and of their definitions. Pure; runs before any I/O. */
import { type FeatureDefinition, SvcError, TOOL_NAME } from "@svc/contract";
import { type RegistryPart, hasDoubledName, isRoutePath, pathsMeet } from "../registry.ts";
import type { GenericSchema } from "valibot";

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
  return new SvcError("FEATURE_CONFLICT", `Features of this build contradict each other:${list}`, {
    hint: "Build without one of the features named, or rename what they share.",
  });
}

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

/** What the routes of features get wrong: their paths, those of core and of each other, and whom they let in. */
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

const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const SECTION = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*$/;

/**
 * What definitions alone get wrong, as sentences. The composer calls it too, before anything is loaded. `definitions`: all features of the build, on or off, as a conflict between two that are
 * off would come up on the day someone turns them on. `coreSections`: what core owns.
 */
export function definitionProblems(
  definitions: readonly FeatureDefinition[],
  coreSections: Readonly<Record<string, GenericSchema>>,
): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  const owners = new Map<string, string>(Object.keys(coreSections).map((section) => [section, "core"]));
  const keys = new Map<string, Map<string, string>>();
  for (const [section, schema] of Object.entries(coreSections)) keys.set(section, claimed(keysOf(schema), "core"));

  const commands = new Map<string, string>();
  for (const definition of definitions) {
    for (const command of Object.keys(definition.commands ?? {})) {
      const other = commands.get(command);
      if (other === undefined) commands.set(command, definition.id);
      else problems.push(`command "${command}" is offered by both feature "${other}" and feature "${definition.id}"`);
    }
  }

  const features = new Set(definitions.filter(({ partOf }) => partOf === undefined).map(({ id }) => id));
  for (const { id, partOf, section, extends: extended, config } of definitions) {
    const who = `feature ${JSON.stringify(id)}`;
    if (!ID.test(id)) problems.push(`${who}: an id is lower-case words joined by "-"`);
    if (ids.has(id)) problems.push(`${who} is in the build twice`);
    ids.add(id);
    if (partOf !== undefined) {
      if (!features.has(partOf))
        problems.push(`${who} is a part of ${JSON.stringify(partOf)}, which is not in the build`);
      if (!id.startsWith(`${partOf}-`)) problems.push(`${who}: the id of a part begins with "${partOf}-"`);
      if (section === undefined && extended === undefined)
        problems.push(`${who} is a part of a feature and has no section`);
    }
    for (const name of [section, extended]) {
      if (name !== undefined && !SECTION.test(name)) problems.push(`${who}: bad section name ${JSON.stringify(name)}`);
    }
    if (section !== undefined && extended !== undefined) problems.push(`${who} owns a section and extends one`);
    if (config !== undefined && section === undefined && extended === undefined) {
      problems.push(`${who} has a config schema and no section`);
    }
    if (section === undefined) continue;
    const owner = owners.get(section);
    if (owner === undefined) {
      owners.set(section, who);
      keys.set(section, claimed(keysOf(config), who));
    } else problems.push(`section [${section}] is owned by both ${owner} and ${who}`);
  }

  for (const { id, extends: extended, config } of definitions) {
    if (extended === undefined) continue;
    const who = `feature ${JSON.stringify(id)}`;
    const taken = keys.get(extended);
    if (taken === undefined) problems.push(`${who} extends section [${extended}], which no feature owns`);
    else addKeys(extended, keysOf(config), who, taken, problems);
  }
  return [...problems, ...nestingProblems(owners, keys)];
}

function addKeys(section: string, added: string[], who: string, taken: Map<string, string>, problems: string[]): void {
  for (const key of added) {
    const other = taken.get(key);
    if (other === undefined) taken.set(key, who);
    else problems.push(`key ${JSON.stringify(key)} of section [${section}] is declared by both ${other} and ${who}`);
  }
}

/** `[a.b]` is also the key `b` of `[a]`: two owners of the same lines of the file. */
function nestingProblems(
  owners: ReadonlyMap<string, string>,
  keys: ReadonlyMap<string, Map<string, string>>,
): string[] {
  const problems: string[] = [];
  for (const [section, who] of owners) {
    const parts = section.split(".");
    for (let depth = 1; depth < parts.length; depth += 1) {
      const parent = parts.slice(0, depth).join(".");
      const other = keys.get(parent)?.get(parts[depth] as string);
      if (other !== undefined) problems.push(`section [${section}] of ${who} is a key of [${parent}], of ${other}`);
    }
  }
  return problems;
}

const claimed = (keys: readonly string[], who: string): Map<string, string> => new Map(keys.map((key) => [key, who]));

function keysOf(schema: GenericSchema | undefined): string[] {
  const entries: unknown = schema !== undefined && "entries" in schema ? schema.entries : undefined;
  return typeof entries === "object" && entries !== null ? Object.keys(entries) : [];
}
