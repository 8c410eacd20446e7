/** The configuration in force. It is immutable; a reload makes a new one. */
import type { FeatureDefinition, Json } from "@svc/contract";
import type { Backend } from "./backends.ts";
import type { CoreConfig } from "./core-schema.ts";
import { redactedTable, withDefaults } from "./redacted.ts";
import { isImplicit, type Section, type SectionPart } from "./sections.ts";
import { nodeCrypto } from "./hashed-secret.ts";
import type { KnownSecret } from "./secrets/redact.ts";
import { isTable, type Table } from "./table.ts";
import { isUnset, keysOf } from "./validate.ts";

export interface LoadedSection {
  readonly section: Section;
  /** Its keys as set by file and environment, secrets in plain text but for those that are kept as a hash. */
  readonly input: Table;
  readonly present: boolean;
  readonly on: boolean;
  readonly value: unknown;
  readonly parts: ReadonlyMap<SectionPart, unknown>;
}

/** An agent that has `beside` needs `tool`, too: nothing may drive that can't stop. */
export interface ToolPair {
  readonly tool: string;
  readonly beside: string;
}

interface Content {
  readonly file: string;
  readonly sections: ReadonlyMap<string, LoadedSection>;
  readonly secrets: readonly KnownSecret[];
  readonly shortSecrets: readonly string[];
  readonly guessableSecrets: readonly string[];
  readonly origins: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
  readonly backend: Backend;
  readonly toolPairs: readonly ToolPair[];
  readonly hasPlainSecrets: boolean;
}

export class LoadedConfig {
  /** Absolute path. */
  readonly file: string;
  readonly core: CoreConfig;
  /** Sentences for the log; none holds a value. */
  readonly warnings: readonly string[];
  /** The backend of `[observability]`, or `log` if this build lacks it. */
  readonly backend: Backend;
  /** See `ToolPair`. */
  readonly toolPairs: readonly ToolPair[];
  /** A secret stands in the file in plain text. */
  readonly hasPlainSecrets: boolean;
  readonly #content: Content;

  /** @internal made by loadConfig */
  constructor(content: Content) {
    this.#content = content;
    this.file = content.file;
    this.backend = content.backend;
    this.hasPlainSecrets = content.hasPlainSecrets;
    this.toolPairs = Object.freeze(content.toolPairs);
    this.warnings = Object.freeze([...content.warnings]);
    for (const { value, parts } of content.sections.values()) {
      freeze(value);
      parts.forEach(freeze);
    }
    const core = [...content.sections].filter(([, { section }]) => section.core);
    this.core = Object.freeze(Object.fromEntries(core.map(([name, { value }]) => [name, value]))) as CoreConfig;
  }

  /** Names of all sections of this build, there or not. */
  sectionNames(): string[] {
    return [...this.#content.sections.keys()];
  }

  /** The validated section with the keys of all who extend it; `undefined` when it is absent or turned off. */
  section(name: string): unknown {
    const loaded = this.#content.sections.get(name);
    return loaded?.on || loaded?.section.core ? loaded.value : undefined;
  }

  /** What the feature's own schema made of its keys: `FeatureContext.config`. `undefined` when it is off. */
  configOf(feature: FeatureDefinition): unknown {
    return this.enabled(feature) ? this.sectionOf(feature) : undefined;
  }

  /** The same whether it is on or not; `undefined` when the section is not there. */
  sectionOf(feature: FeatureDefinition): unknown {
    const loaded = this.#content.sections.get(feature.section ?? feature.extends ?? "");
    if (feature.when) return loaded?.value;
    const part = loaded?.section.parts.find(({ owner }) => owner === feature.id);
    return part && loaded?.parts.get(part);
  }

  /**
   * A section that is there turns its owner on, unless `enabled` says no. A feature that adds keys to a section is on
   * when one of them is set; one that adds none is on with the section, or when the section says so. A feature without a section is always on.
   */
  enabled(feature: FeatureDefinition): boolean {
    const name = feature.section ?? feature.extends;
    if (name === undefined) return true;
    const loaded = this.#content.sections.get(name);
    if (!loaded?.on) return false;
    if (feature.section !== undefined) return true;
    if (feature.when) return feature.when(loaded.value as Table);
    const part = loaded.section.parts.find(({ owner }) => owner === feature.id);
    return !part || part.entries.size === 0 || !isUnset(keysOf(part, loaded.section, loaded.input));
  }

  /** Every secret configured, for the redactor of the log; of the file also those that the environment beats. */
  secrets(): KnownSecret[] {
    return [...this.#content.secrets];
  }

  /** Keys of the secrets that the redactor passes over, because they are too short. */
  shortSecrets(): readonly string[] {
    return this.#content.shortSecrets;
  }

  /** Keys of the secrets that are the operator's to choose, and have fewer than `LEAST_CHOSEN_CHARS` characters. */
  guessableSecrets(): readonly string[] {
    return this.#content.guessableSecrets;
  }

  /** The variable that set a key, `undefined` when the file or a default did. */
  setBy(key: string): string | undefined {
    return this.#content.origins.get(key);
  }

  /** The effective configuration, nested as in the file, defaults filled in, secrets as dots. */
  redacted(): Record<string, Json> {
    const root: Record<string, Json> = {};
    for (const { section, present, input, parts } of this.#content.sections.values()) {
      if (!present) continue;
      // Core's values are plain, so they are shown as they are in force: 0 clients tracked is the default number.
      const made: unknown = section.core ? parts.get(section.parts[0] as SectionPart) : undefined;
      const table = redactedTable(keysInUse(section, parts), isTable(made) ? { ...input, ...made } : input);
      let holder = root;
      for (const name of section.path.slice(0, -1)) holder = (holder[name] ??= {}) as Record<string, Json>;
      const last = section.path.at(-1) as string;
      holder[last] = { ...table, ...(holder[last] as Record<string, Json> | undefined) };
    }
    return root;
  }

  /** SHA-256 (hex) of what is in force in a section, secrets included: it differs when a reload changed something. */
  hash(name: string): string {
    const loaded = this.#content.sections.get(name);
    const value = loaded?.present ? withDefaults(loaded.section, loaded.input) : null;
    return nodeCrypto().createHash("sha256").update(canonical(value)).digest("hex");
  }

  /** Printing or logging the whole thing shows what may be shown. */
  toJSON(): Json {
    return this.redacted();
  }
}

/** Not the defaults of an extension that is not in use, nor the `enabled` that every feature's section takes. */
function keysInUse(section: Section, parts: LoadedSection["parts"]): Pick<Section, "entries" | "item"> {
  const inUse = section.parts.filter((part) => !isImplicit(part) && (part === section.parts[0] || parts.has(part)));
  const entries = new Map(inUse.flatMap((part) => [...part.entries]));
  return section.item ? { entries, item: section.item } : { entries };
}

/** JSON with keys in one order: moving a line of the file is no change. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

/** Plain tables and lists only; what a schema made into something else is the feature's own. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}
