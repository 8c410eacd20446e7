/** The effective configuration, table by table. */
import { useState } from "preact/hooks";
import { SearchField } from "../components/fields.tsx";
import { Command, Empty, Heading, Section } from "../components/layout.tsx";
import { Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { HelpText, Name } from "../components/text.tsx";
import { useReader } from "../state/use-reader.ts";
import { rich, t } from "../texts/texts.ts";

const COLUMNS: readonly Column<ConfigKey>[] = [
  { label: "config.key", cell: ({ name }) => <code>{name}</code> },
  { label: "config.value", cell: ({ value, isDefault }) => <Value value={value} isDefault={isDefault} /> },
  {
    label: "config.what-it-is",
    cell: ({ description = "", comment }) => (
      <>
        <HelpText>{description}</HelpText>{" "}
        {comment === undefined ? null : (
          <span class="hint">
            <HelpText>{comment}</HelpText>
          </span>
        )}
      </>
    ),
  },
];

export function Config() {
  const [text, setText] = useState("");
  const config = useReader("config", [], async (api, signal) => {
    const [values, schema] = await Promise.all([
      api.get<Readonly<Record<string, unknown>>>("/api/config", {}, signal),
      api.get<Schema>("/api/config/schema", {}, signal),
    ]);
    return sectionsOf(values, schema);
  });
  return (
    <>
      <Heading title={t("config.config")} />
      <p>
        {rich("config.the-values-in-force-secrets", {
          link: <a href="#/settings">{t("common.all-settings")}</a>,
          command: <Command>svc reload</Command>,
        })}
      </p>
      <div class="filters">
        <SearchField label={t("common.contains")} value={text} onChange={setText} />
      </div>
      <Shown read={config}>{(sections) => <Sections sections={fitting(sections, text)} />}</Shown>
    </>
  );
}

function Sections({ sections }: { readonly sections: readonly ConfigSection[] }) {
  if (sections.length === 0) return <Empty title={t("common.nothing-fits")} />;
  return (
    <>
      {sections.map(({ name, keys }) => (
        <Section key={name} title={`[${name}]`}>
          <Table label={name} columns={COLUMNS} rows={keys} keyOf={({ name: key }) => key} />
        </Section>
      ))}
    </>
  );
}

function Value({ value, isDefault }: Pick<ConfigKey, "value" | "isDefault">) {
  if (value === undefined) return <span class="hint">{t("config.not-set")}</span>;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return (
    <>
      <span class="mono">
        <Name>{text}</Name>
      </span>{" "}
      {isDefault ? null : <span class="mark">{t("config.yours")}</span>}
    </>
  );
}

function fitting(sections: readonly ConfigSection[], text: string): readonly ConfigSection[] {
  const wanted = text.trim().toLowerCase();
  return sections
    .map(({ name, keys }) => ({
      name,
      keys: keys.filter((key) => `${name}.${key.name} ${key.description ?? ""}`.toLowerCase().includes(wanted)),
    }))
    .filter(({ keys }) => keys.length > 0);
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly $comment?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
}

interface ConfigKey {
  readonly name: string;
  /** Undefined: not set. */
  readonly value: unknown;
  readonly description: string | undefined;
  readonly comment: string | undefined;
  readonly isDefault: boolean;
}

interface ConfigSection {
  /** As in the file: `security.policy`. */
  readonly name: string;
  readonly keys: readonly ConfigKey[];
}

type ConfigTable = Readonly<Record<string, unknown>>;

/** In the daemon's order; a nested table is a separate section. */
export function sectionsOf(config: ConfigTable, schema: Schema): readonly ConfigSection[] {
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

/** Schema of a key; tables with free names share one schema. */
function below(schema: Schema | undefined, name: string): Schema | undefined {
  const own = schema?.properties?.[name];
  if (own !== undefined) return own;
  const others = schema?.additionalProperties;
  return typeof others === "object" ? others : undefined;
}

const isTableSchema = (schema: Schema | undefined): boolean => schema?.type === "object";

const isTable = (value: unknown): value is ConfigTable =>
  typeof value === "object" && value !== null && !Array.isArray(value);
