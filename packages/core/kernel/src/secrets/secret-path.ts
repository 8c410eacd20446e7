/** Which secret of the config a key typed in means, or what it may have meant. */
import { type FeatureDefinition, SvcError } from "@svc/contract";
import { matchKey, readKey } from "../config/key-text.ts";
import { sectionsOf, sectionTables } from "../config/sections.ts";
import { checkStructure } from "../config/structure.ts";
import { nearest } from "../config/suggest.ts";
import { emptyTable, keyText, type Path, type Table, valueAt } from "../config/table.ts";
import { validateSection } from "../config/validate.ts";
import { type SchemaKey, walkSection } from "../config/walk-schema.ts";

/** Throws USAGE with what would be right; the value is never a part of it. */
export async function secretKeyPath(key: string, value: string, features: readonly FeatureDefinition[]): Promise<Path> {
  const sections = sectionsOf(features);
  const keys = [...sections.values()].flatMap(walkSection);
  const typed = readKey(key) ?? [];
  for (const candidate of keys) {
    const path = matchKey(candidate, typed);
    if (!path) continue;
    if (!candidate.node.marks.secret) throw noSecret(keyText(path));
    const fault = faultOf(path, value, sections.get(candidate.section)!);
    if (fault === undefined) return path;
    throw new SvcError("USAGE", `${keyText(path)}: ${fault}.`);
  }
  throw await unknown(
    key,
    typed,
    keys.filter(({ node }) => node.marks.secret),
  );
}

type Section = Parameters<typeof validateSection>[0];

/** What is wrong with the value, or with a name in the path. What lacks beside it is not its fault. */
function faultOf(path: Path, value: string, section: Section): string | undefined {
  // Whichever item of a list is meant, here it is the first.
  const probe = path.map((name) => (typeof name === "number" ? 0 : name));
  const table = tableWith(probe, value);
  const tables = sectionTables(new Map([[section.name, section]]), []);
  const own = validateSection(section, valueAt(table, section.path) as Table, true);
  const findings = [...checkStructure(table, tables), ...own.findings];
  return findings.find(({ at, path: told }) => at === "key" || told.length === probe.length)?.message;
}

function tableWith(path: Path, value: string): Table {
  const root = emptyTable();
  let holder: Table | unknown[] = root;
  for (const [depth, name] of path.entries()) {
    const next = depth === path.length - 1 ? value : typeof path[depth + 1] === "number" ? [] : emptyTable();
    (holder as Table)[name] = next;
    holder = next as Table | unknown[];
  }
  return root;
}

const noSecret = (key: string): SvcError =>
  new SvcError("USAGE", `${key} is not a secret.`, {
    hint: "Set it in the config file; svc config check tells if it is right.",
  });

async function unknown(key: string, typed: Path, secrets: readonly SchemaKey[]): Promise<SvcError> {
  const named = secrets.map(({ path }) =>
    keyText(path.map((name, index) => (name === "*" ? String(typed[index] ?? "<name>") : name))),
  );
  const meant = await nearest(key, named);
  const all = secrets.map(({ key: name }) => name.replaceAll(".[]", "[0]").replaceAll("*", "<name>")).join(", ");
  return new SvcError("USAGE", "The config has no secret by this key.", {
    hint: `${meant === undefined ? "" : `Did you mean ${meant}? `}Secrets are: ${all}.`,
  });
}
