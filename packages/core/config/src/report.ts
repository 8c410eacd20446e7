/** Findings become problems: placed in the file, in its order, with a guess at what was meant. */
import type { Finding } from "./finding.ts";
import { MASK } from "./redacted.ts";
import { nearest } from "./suggest.ts";
import { type Path, keyText, valueAt } from "./table.ts";
import type { Places } from "./toml-places.ts";
import { type ErrorCode, SvcError } from "@svc/contract";
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
