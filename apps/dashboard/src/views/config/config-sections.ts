/** The configuration in force beside its schema: tables of the file, key by key. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly $comment?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
}

export interface ConfigKey {
  readonly name: string;
  /** Undefined: not set. */
  readonly value: unknown;
  readonly description: string | undefined;
  readonly comment: string | undefined;
  readonly isDefault: boolean;
}

export interface ConfigSection {
  /** As in the file: `security.policy`. */
  readonly name: string;
  readonly keys: readonly ConfigKey[];
}

type Table = Readonly<Record<string, unknown>>;

/** In the daemon's order; a nested table is a separate section. */
export function sectionsOf(config: Table, schema: Schema): readonly ConfigSection[] {
  return Object.entries(config).flatMap(([name, value]) => section(name, value, below(schema, name)));
}

function section(name: string, value: unknown, schema: Schema | undefined): readonly ConfigSection[] {
  if (!isTable(value)) return [{ name, keys: [keyOf(name, value, schema)] }];
  const known = Object.keys(schema?.properties ?? {});
  const names = [...new Set([...known, ...Object.keys(value)])];
  const isInner = (key: string): boolean =>
    isTable(value[key]) || (value[key] === undefined && isTableSchema(below(schema, key)));
  const keys = names.filter((key) => !isInner(key)).map((key) => keyOf(key, value[key], below(schema, key)));
  const inner = names
    .filter((key) => isTable(value[key]))
    .flatMap((key) => section(`${name}.${key}`, value[key], below(schema, key)));
  return keys.length === 0 ? inner : [{ name, keys }, ...inner];
}

function keyOf(name: string, value: unknown, schema: Schema | undefined): ConfigKey {
  const isDefault = value === undefined || JSON.stringify(value) === JSON.stringify(schema?.default);
  return { name, value, description: schema?.description, comment: schema?.$comment, isDefault };
}

/** A key of a table, or of tables that a person names. */
function below(schema: Schema | undefined, name: string): Schema | undefined {
  const own = schema?.properties?.[name];
  if (own !== undefined) return own;
  const others = schema?.additionalProperties;
  return typeof others === "object" ? others : undefined;
}

const isTableSchema = (schema: Schema | undefined): boolean => schema?.type === "object";

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);
