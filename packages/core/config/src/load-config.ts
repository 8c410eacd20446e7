/**
 * The configuration in force: the file, the environment laid over it, defaults filled in, checked as a whole.
 *
 *   read the file → parse → lay the environment over → find keys that don't belong → settle secrets → validate
 *
 * Every problem is told at once. A valid file costs no parser but the plain one.
 */
import { resolve } from "node:path";
import type { CatalogueEntry, FeatureDefinition, FeatureNeed } from "@svc/contract";
import type { Home } from "./home.ts";
import { backendInForce, backendWarnings } from "./backends.ts";
import { openKeyRing } from "./secrets/key-ring.ts";
import { type ParsedConfig, parseConfig, readConfigFile } from "./config-file.ts";
import { absentBrowser, browserWarnings } from "./backends.ts";
import { channelAgentRules, coreRules, spokenChannelRules } from "./core-rules.ts";
import type { CoreConfig } from "./core-schema.ts";
import { type Environment, overlayEnvironment, variableName } from "./environment.ts";
import {
  type Absent,
  ConfigError,
  type Finding,
  absentOf,
  badKey,
  badValue,
  needsFeature,
  report,
  withoutVague,
} from "./problem.ts";
import { LoadedConfig, type LoadedSection, type ToolPair } from "./loaded-config.ts";
import {
  guessableSecrets,
  hasPlainSecret,
  hashSecrets,
  knownSecrets,
  secretPlaces,
  settleSecrets,
  shortSecrets,
  textsOf,
} from "./secret-values.ts";
import { type Section, sectionTables, sectionsOf, walkSection } from "./sections.ts";
import { checkStructure, validateSection } from "./validate.ts";
import { type Table, emptyTable, isTable, keyText, valueAt } from "./table.ts";
import { statSync } from "node:fs";

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
  const reported = withUnread(withoutVague(findings), unread);
  if (reported.length > 0) {
    const secrets = textsOf([...placesInFile, ...secretPlaces(table, all)], headers);
    throw new ConfigError(file, await report(reported, { file, text, origins, secrets }));
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

// The secrets in `observability.otel_headers`. The key as a whole stands nowhere else; what a collector, or an error of a library, would
// quote is one header's value, as it is written or as it is sent, with its scheme or without.

/** Shorter ones name a tenant or a data set and no secret, and would be taken out of every other line. */
const LEAST_CHARS = 8;

function headerSecrets(pairs: unknown): string[] {
  if (typeof pairs !== "string") return [];
  const written = pairs.split(",").map((pair) => pair.slice(pair.indexOf("=") + 1).trim());
  const sent = written.map(decoded);
  const credentials = sent.map((value) => value.replace(/^\w+\s+/, ""));
  return [...written, ...sent, ...credentials].filter((value) => value.length >= LEAST_CHARS);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** What is no mistake but should be known. None of it holds a value. */
const WRITABLE_BY_OTHERS = 0o022;
const READABLE_BY_OTHERS = 0o044;
const ANY_OF_OTHERS = 0o077;

/** `mode` is undefined on a system without permission bits. */
function fileWarnings(
  file: string,
  mode: number | undefined,
  plainSecrets: boolean,
  home: Pick<Home, "secretKey">,
): string[] {
  if (mode === undefined) return [];
  const warnings: string[] = [];
  if (mode & WRITABLE_BY_OTHERS) warnings.push(`${file} can be changed by other users; run: chmod 600 ${file}`);
  else if (plainSecrets && mode & READABLE_BY_OTHERS) {
    warnings.push(`${file} holds secrets and can be read by other users; run: chmod 600 ${file}`);
  }
  if (modeOf(home.secretKey) & ANY_OF_OTHERS) {
    warnings.push(`${home.secretKey} is open to other users; run: chmod 600 ${home.secretKey}`);
  }
  return warnings;
}

function modeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
}

/** `keys`: of secrets that are too short. */
const shortSecretWarnings = (keys: readonly string[]): string[] =>
  keys.map((key) => `${key} has fewer than four characters: too short to be kept out of the log`);

/** `SVC_GATEWAY_PORT` does nothing; who sets it means `SVC__GATEWAY__PORT`. */
function variableWarnings(env: Environment, sections: readonly Section[]): string[] {
  const names = Object.keys(env).filter((name) => /^SVC_(?!_|HOME$)/.test(name));
  if (names.length === 0) return [];
  const keys = sections.flatMap(walkSection);
  const named = new Set(keys.map(({ node }) => node.marks.env));
  const meant = new Map(keys.map((key) => [flat(variableName(key)), variableName(key)]));
  return names.flatMap((name) => {
    const variable = named.has(name) ? undefined : meant.get(flat(name));
    return variable === undefined ? [] : [`${name} is not read; did you mean ${variable}?`];
  });
}

const flat = (name: string): string => name.replaceAll("__", "_");

/**
 * Finds settings without effect, because this build lacks their feature or another section is off, and settings that remove a tool which
 * another tool needs.
 */
function neededFeatures(
  loaded: ReadonlyMap<string, LoadedSection>,
  features: readonly FeatureDefinition[],
  catalogue: readonly CatalogueEntry[],
  core: Partial<CoreConfig>,
): Finding[] {
  const present = new Set(features.map(({ id }) => id));
  return needsOf(loaded, features).flatMap(({ path, need }): Finding[] => {
    if ("section" in need) return loaded.get(need.section)?.on ? [] : [needsSection(path, need.section)];
    if ("tool" in need) return withoutTool(need, core);
    if (present.has(need.feature)) return [];
    return [needsFeature("key", [...path, need.key], [entryOf(need.feature, catalogue)])];
  });
}

/** The pairs of the features that are on. */
const toolPairs = (loaded: ReadonlyMap<string, LoadedSection>, features: readonly FeatureDefinition[]): ToolPair[] =>
  needsOf(loaded, features).flatMap(({ need }) => ("tool" in need ? [need] : []));

interface SectionNeed {
  readonly path: Finding["path"];
  readonly need: FeatureNeed;
}

function needsOf(
  loaded: ReadonlyMap<string, LoadedSection>,
  features: readonly FeatureDefinition[],
): readonly SectionNeed[] {
  return features.flatMap((definition) => {
    const { section, on, parts } = loaded.get(definition.section ?? "") ?? {};
    const part = section?.parts.find(({ owner }) => owner === definition.id);
    const config = part && parts?.get(part);
    if (!section || !on || config === undefined) return [];
    return (definition.needs?.(config) ?? []).map((need) => ({ path: section.path, need }));
  });
}

const needsSection = (path: Finding["path"], needed: string): Finding =>
  badKey(path, `this section needs [${needed}] with enabled = true`);

/** Where the config takes the tool from an agent that has the other one. A section that is not valid takes nothing. */
function withoutTool({ tool, beside }: ToolPair, { tools, agents = {} }: Partial<CoreConfig>): Finding[] {
  const disabled = tools?.disabled ?? [];
  if (disabled.includes(beside)) return [];
  const at = disabled.indexOf(tool);
  const isOff = badValue(
    ["tools", "disabled", at],
    `${tool} can't be switched off while ${beside} is on; disable both`,
  );
  const lacking = Object.entries(agents).filter(
    ([, { tools: own }]) => own?.includes(beside) === true && !own.includes(tool),
  );
  return [
    ...(at < 0 ? [] : [isOff]),
    ...lacking.map(([name]) => badValue(["agents", name, "tools"], `an agent that has ${beside} needs ${tool} too`)),
  ];
}

/** A catalogue without it is one of a test, or of a feature from elsewhere: then its id is all that is known. */
const entryOf = (id: string, catalogue: readonly CatalogueEntry[]): Absent =>
  catalogue.find((entry) => entry.id === id) ?? absentOf(id);
