/**
 * The configuration in force: the file, the environment laid over it, defaults filled in, checked as a whole.
 *
 *   read the file → parse → lay the environment over → find keys that don't belong → settle secrets → validate
 *
 * Every problem is told at once. A valid file costs no parser but the plain one.
 */
import { resolve } from "node:path";
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import type { Home } from "../home.ts";
import { backendInForce, backendWarnings } from "../observe/backend.ts";
import { openKeyRing } from "../secrets/key-ring.ts";
import { type ParsedConfig, parseConfig, readConfigFile } from "./config-file.ts";
import { absentBrowser, browserWarnings } from "./browser-backend.ts";
import { channelAgentRules, spokenChannelRules } from "./agent-rules.ts";
import { coreRules } from "./core-rules.ts";
import type { CoreConfig } from "./core-schema.ts";
import { type Environment, overlayEnvironment } from "./environment.ts";
import { type Finding, withoutVague } from "./finding.ts";
import { headerSecrets } from "./header-secrets.ts";
import { LoadedConfig, type LoadedSection } from "./loaded-config.ts";
import { neededFeatures, toolPairs } from "./needed-features.ts";
import { ConfigError } from "./problem.ts";
import { report } from "./report.ts";
import {
  guessableSecrets,
  hashSecrets,
  hasPlainSecret,
  knownSecrets,
  secretPlaces,
  settleSecrets,
  shortSecrets,
  textsOf,
} from "./secret-values.ts";
import { type Section, sectionsOf, sectionTables } from "./sections.ts";
import { checkStructure } from "./structure.ts";
import { emptyTable, isTable, keyText, type Table, valueAt } from "./table.ts";
import { validateSection } from "./validate.ts";
import { fileWarnings, shortSecretWarnings, variableWarnings } from "./warnings.ts";

export interface LoadConfigOptions {
  readonly home: Home;
  /** Default: `config.toml` of the home. */
  readonly file?: string;
  /** Taken as what stands in the file, which is not read: for a text that is checked before it is written. */
  readonly text?: string;
  readonly env: Environment;
  /** Features of this build. */
  readonly features: readonly FeatureDefinition[];
  /** All features there are, for what is said about those that are not in this build. */
  readonly catalogue: readonly CatalogueEntry[];
}

/** Throws CONFIG_NOT_FOUND, and ConfigError with all problems: CONFIG_INVALID, FEATURE_ABSENT, SECRET_UNREADABLE … */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const file = resolve(options.file ?? options.home.config);
  const source = await parseConfig(file, options.text === undefined ? readConfigFile(file) : { text: options.text });
  try {
    return await loaded(source, options);
  } catch (error) {
    if (options.text !== undefined || !hasUnreadable(error)) throw error;
    // A rotation of the key that ran between reading the file and reading the key: both are in step again now.
    const again = readConfigFile(file);
    if (again.text === source.text) throw error;
    return loaded(await parseConfig(file, again), options);
  }
}

const hasUnreadable = (error: unknown): boolean =>
  error instanceof ConfigError && error.problems.some(({ code }) => code === "SECRET_UNREADABLE");

async function loaded(source: ParsedConfig, options: LoadConfigOptions): Promise<LoadedConfig> {
  const { home, env, features, catalogue } = options;
  const { file, text, mode, table } = source;
  const sections = sectionsOf(features);
  const tables = sectionTables(sections, catalogue);
  const all = [...sections.values()];
  const placesInFile = secretPlaces(table, all);
  const plainInFile = hasPlainSecret(table, all);

  const { findings, origins } = overlayEnvironment(table, env, sections, tables);
  findings.push(...checkStructure(table, tables));
  const unread = settleSecrets(table, all, openKeyRing(home).open);
  const values = new Map<string, LoadedSection>();
  for (const section of all) {
    const state = loadSection(section, table, tables);
    values.set(section.name, state.section);
    findings.push(...state.findings);
  }
  const core = coreValues(values);
  findings.push(...neededFeatures(values, features, catalogue, core));
  findings.push(...coreRules(core));
  findings.push(...channelAgentRules(core, values.values()), ...spokenChannelRules(core, values.values()));
  const headers = headerSecrets(valueAt(table, ["observability", "otel_headers"]));
  const told = withUnread(withoutVague(findings), unread);
  if (told.length > 0) {
    const secrets = textsOf([...placesInFile, ...secretPlaces(table, all)], headers);
    throw new ConfigError(file, await report(told, { file, text, origins, secrets }));
  }
  const secrets = knownSecrets([...placesInFile, ...secretPlaces(table, all)], headers);

  const { browser, observability } = core as CoreConfig;
  const backend = backendInForce(observability, features);
  const short = shortSecrets(table, all);
  const guessable = guessableSecrets(table, all);
  for (const { section, input } of values.values()) hashSecrets(input, section);
  const warnings = [
    ...fileWarnings(file, mode, plainInFile, home),
    ...variableWarnings(env, all),
    ...shortSecretWarnings(short),
    ...backendWarnings(observability, backend, catalogue),
    ...browserWarnings(absentBrowser(browser, features, catalogue)),
  ];
  return new LoadedConfig({
    toolPairs: toolPairs(values, features),
    file,
    sections: values,
    secrets,
    shortSecrets: short,
    guessableSecrets: guessable,
    origins,
    warnings,
    backend,
    hasPlainSecrets: plainInFile,
  });
}

/** Of core's sections those that are valid. */
function coreValues(loaded: ReadonlyMap<string, LoadedSection>): Partial<CoreConfig> {
  const valid = [...loaded].filter(([, { section, value }]) => section.core && value !== undefined);
  return Object.fromEntries(valid.map(([name, { parts, section }]) => [name, parts.get(section.parts[0]!)]));
}

type Tables = ReturnType<typeof sectionTables>;

function loadSection(section: Section, table: Table, tables: Tables): { section: LoadedSection; findings: Finding[] } {
  const there = valueAt(table, section.path);
  const input = withoutSubsections(isTable(there) ? there : emptyTable(), section, tables);
  const present = section.core || there !== undefined;
  const on = present && isOn(section, input);
  if (!present || (there !== undefined && !isTable(there))) {
    return { section: { section, input, on: false, present: false, value: undefined, parts: new Map() }, findings: [] };
  }
  const { value, parts, findings } = validateSection(section, input, !on && !section.core);
  return { section: { section, input, on, present, value, parts }, findings };
}

/** What the file says, else the schema's default; a section whose schema has no say is on. */
function isOn(section: Section, input: Table): boolean {
  const node = section.entries.get("enabled");
  if (!node) return true;
  return typeof input["enabled"] === "boolean" ? input["enabled"] : node.default !== false;
}

/** `[security.net]` is in the file's `[security]`, but no key of a section by that name. */
function withoutSubsections(table: Table, { path }: Section, tables: Tables): Table {
  let here = tables;
  for (const name of path) here = here.children.get(name) ?? here;
  const own = emptyTable();
  for (const [name, value] of Object.entries(table)) if (!here.children.has(name)) own[name] = value;
  return own;
}

/** One thing is told of a secret that can't be opened; that it also looks wrong would only mislead. */
function withUnread(findings: readonly Finding[], unread: readonly Finding[]): Finding[] {
  const paths = new Set(unread.map((finding) => keyText(finding.path)));
  return [...findings.filter((finding) => !paths.has(keyText(finding.path))), ...unread];
}
