/** A problem as the checks find it; `report.ts` finds its place and its "did you mean". */
import { buildCommand, type CatalogueEntry, type ErrorCode } from "@svc/contract";
import { keyText, type Path } from "./table.ts";

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
