/** Findings become problems: placed in the file, in its order, with a guess at what was meant. */
import type { Finding } from "./finding.ts";
import type { Problem } from "./problem.ts";
import { MASK } from "./redacted.ts";
import { nearest } from "./suggest.ts";
import { keyText, type Path, valueAt } from "./table.ts";
import type { Places } from "./toml-places.ts";

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
