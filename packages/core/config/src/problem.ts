/** What is wrong with a configuration: found by the checks as findings, told as problems, with their place in the file and a guess at what was meant. */
import { MASK } from "./redacted.ts";
import { type Path, keyText, valueAt } from "./table.ts";
import type { Places } from "./toml-places.ts";
import { type CatalogueEntry, type ErrorCode, SvcError, buildCommand } from "@svc/contract";
import { basename } from "node:path";

export interface ReportContext {
  readonly file: string;
  readonly text: string;
  /** Which variable set a key, by `keyText`. */
  readonly origins: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
}

export async function report(findings: readonly Finding[], context: ReportContext): Promise<Problem[]> {
  const places = await placesOf(context.text);
  const problems = await Promise.all(findings.map((finding) => problemOf(finding, context, places)));
  return problems.sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity) || (a.column ?? 0) - (b.column ?? 0));
}

async function placesOf(text: string): Promise<Places | undefined> {
  try {
    return (await import("./toml-places.ts")).readPlaces(text);
  } catch {
    // The two parsers differ at the edges of TOML; a problem without its line is still a problem told.
    return undefined;
  }
}

async function problemOf(finding: Finding, context: ReportContext, places: Places | undefined): Promise<Problem> {
  const { code, path, at, message, allowed, guess } = finding;
  const env = finding.env ?? originOf(path, context.origins) ?? makerOf(path, context.origins, places);
  const place = env === undefined ? places?.placeOf(path, at) : undefined;
  const didYouMean = guess && (await nearest(guess.wrong, guess.among));
  return {
    code,
    ...(env === undefined ? { file: context.file, ...place } : { env }),
    key: masked(keyText(path), context.secrets),
    message,
    ...(allowed !== undefined && { allowed }),
    ...(didYouMean !== undefined && { didYouMean }),
  };
}

/** Also for a key inside a value that a variable set as a whole. */
function originOf(path: Path, origins: ReadonlyMap<string, string>): string | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const env = origins.get(keyText(path.slice(0, length)));
    if (env !== undefined) return env;
  }
  return undefined;
}

/** The variable that brought a table into being by setting a key in it, where the file has no such table. */
function makerOf(path: Path, origins: ReadonlyMap<string, string>, places: Places | undefined): string | undefined {
  if (path.length === 0 || !places || valueAt(places.table, path) !== undefined) return undefined;
  const inside = `${keyText(path)}.`;
  return [...origins].find(([key]) => key.startsWith(inside))?.[1];
}

/** A secret can stand as a name too, pasted on the wrong side of the "=". */
function masked(key: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret.length >= 8).reduce((text, secret) => text.replaceAll(secret, MASK), key);
}

/** What is wrong with a configuration, told all at once and without a single received value. */
export interface Problem {
  readonly code: ErrorCode;
  /** Absolute path of the file it is in; absent when an environment variable is to blame. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1, in UTF-16 units. */
  readonly column?: number;
  /** Dotted key; empty for a file that can't be parsed. */
  readonly key: string;
  readonly message: string;
  /** What would be right: names of keys, values, a range. */
  readonly allowed?: string;
  readonly didYouMean?: string;
  /** The environment variable to blame. */
  readonly env?: string;
}

/** Code: that of all problems when they agree, else CONFIG_INVALID. */
export class ConfigError extends SvcError {
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[], options: { cause?: unknown } = {}) {
    const codes = new Set(problems.map((problem) => problem.code));
    const [code = "CONFIG_INVALID"] = codes;
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    super(codes.size === 1 ? code : "CONFIG_INVALID", `${file} has ${count}:\n${indented(problems)}`, {
      hint: "Correct this, then run `svc config check`.",
      ...options,
    });
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** `config.toml:12  gateway.prot: unknown key; did you mean "port"? (allowed: host, port, …)`, a line each. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems.map(formatProblem).join("\n");
}

function formatProblem({ file, line, column, key, message, allowed, didYouMean, env }: Problem): string {
  // A syntax error is found by its column; a key is found by its name.
  const place = [file && basename(file), line, key === "" ? column : undefined].filter((part) => part !== undefined);
  const where = env ?? place.join(":");
  const what = key === "" ? message : `${key}: ${message}`;
  const guess = didYouMean === undefined ? "" : `; did you mean "${didYouMean}"?`;
  const rest = allowed === undefined ? "" : ` (allowed: ${didYouMean === undefined ? allowed : shortened(allowed)})`;
  return `${where}  ${what}${guess}${rest}`;
}

/** Beside a good guess a long list is noise. */
function shortened(allowed: string): string {
  const items = allowed.split(", ");
  return items.length <= 5 ? allowed : [...items.slice(0, 4), "…"].join(", ");
}

const indented = (problems: readonly Problem[]): string => formatProblems(problems).replace(/^/gm, "  ");

// "Did you mean": the nearest of what is allowed, or nothing when all of it is far off.

/** The library is loaded by the first mistake only. */
export async function nearest(wrong: string, allowed: readonly string[]): Promise<string | undefined> {
  if (wrong.length > 100) return undefined;
  const { distance } = (await import("fastest-levenshtein")).default;
  const lower = wrong.toLowerCase();
  let best: string | undefined;
  // Two letters swapped are two edits, so four letters must allow for two.
  let least = Math.min(3, Math.ceil(wrong.length / 2)) + 1;
  for (const candidate of allowed) {
    const edits = distance(lower, candidate.toLowerCase());
    if (edits < least && edits < candidate.length) [best, least] = [candidate, edits];
  }
  if (best !== undefined || wrong.length < 3) return best;
  const longer = allowed.filter((candidate) => candidate.toLowerCase().startsWith(lower));
  return longer.length === 1 ? longer[0] : undefined;
}

/** A problem as the checks find it; `report` finds its place and its "did you mean". */
export interface Finding {
  readonly code: ErrorCode;
  readonly path: Path;
  /** What of it to point at. */
  readonly at: "key" | "value";
  readonly message: string;
  readonly allowed?: string;
  /** What was written, never shown, and what it may have meant. */
  readonly guess?: { readonly wrong: string; readonly among: readonly string[] };
  readonly env?: string;
  /** About a value as a whole: not worth saying where a key inside it is found to be wrong. */
  readonly vague?: true;
}

export const badValue = (path: Path, message: string, rest: Partial<Finding> = {}): Finding => ({
  code: "CONFIG_INVALID",
  path,
  at: "value",
  message,
  ...rest,
});

export const badKey = (path: Path, message: string, rest: Partial<Finding> = {}): Finding => ({
  code: "CONFIG_INVALID",
  path,
  at: "key",
  message,
  ...rest,
});

/** A finding for each item of a list that is not right, without a word of it. */
export const wrongItems = (
  path: Path,
  items: readonly string[],
  isRight: (item: string) => boolean,
  message: string,
): Finding[] => items.flatMap((item, index) => (isRight(item) ? [] : [badValue([...path, index], message)]));

/** What the catalogue says of a feature outside this build. */
export type Absent = Pick<CatalogueEntry, "flag" | "planned" | "profiles" | "build">;

/** A feature that the catalogue does not list: one of a package from elsewhere. */
export const absentOf = (id: string): Absent => ({
  flag: id,
  planned: false,
  profiles: [],
  build: buildCommand({ profile: "<profile>", with: [], without: [] }, id),
});

/** `entries`: the features outside this build that claim the section. */
export const absentFeature = (path: Path, entries: readonly Absent[], rest: Partial<Finding> = {}): Finding =>
  needsFeature("section", path, entries, rest);

/** `what` of the file the features are needed for; any one of them will do. */
export function needsFeature(
  what: "section" | "key",
  path: Path,
  entries: readonly Absent[],
  rest: Partial<Finding> = {},
): Finding {
  const written = entries.filter((entry) => !entry.planned);
  const flags = flagsOf(written.length > 0 ? written : entries);
  const feature = `${flags.length > 1 ? "one of the features" : "the feature"} ${flags.join(", ")}`;
  if (written.length === 0) {
    const message = `this ${what} needs ${feature}, planned, not written yet`;
    return { code: "FEATURE_PLANNED", path, at: "key", message, ...rest };
  }
  const profiles = [...new Set(written.flatMap((entry) => entry.profiles))];
  const has = profiles.length === 0 ? "no profile has it" : `profiles that have it: ${profiles.join(", ")}`;
  const { build } = written[0]!;
  const message = `this ${what} needs ${feature}, not in this build; ${has}; build it in with: ${build}`;
  return { code: "FEATURE_ABSENT", path, at: "key", message, ...rest };
}

/** The keys a section has, for an unknown one. `extenders`: features outside this build that would add some. */
export function unknownKey(
  path: Path,
  names: readonly string[],
  extenders: readonly CatalogueEntry[] = [],
  rest: Partial<Finding> = {},
): Finding {
  const flags = flagsOf(extenders);
  const extended =
    flags.length === 0 ? "" : ` (${flags.join(", ")}, not in this build, adds keys to [${parentOf(path)}])`;
  return badKey(path, `unknown ${path.length === 1 ? "section" : "key"}${extended}`, {
    allowed: names.length === 0 ? "no keys" : names.join(", "),
    guess: { wrong: String(path.at(-1)), among: names },
    ...rest,
  });
}

const parentOf = (path: Path): string => keyText(path.slice(0, -1));
const flagsOf = (entries: readonly Absent[]): string[] => [...new Set(entries.map((entry) => entry.flag))];

export function withoutVague(findings: readonly Finding[]): Finding[] {
  const inside = (outer: Path, inner: Path): boolean =>
    inner.length > outer.length && keyText(inner.slice(0, outer.length)) === keyText(outer);
  return findings.filter(({ vague, path }) => !vague || !findings.some((other) => inside(path, other.path)));
}
