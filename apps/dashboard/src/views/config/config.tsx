import { useState } from "preact/hooks";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { useReader } from "../../state/use-reader.ts";
import { type ConfigKey, type ConfigSection, type Schema, sectionsOf } from "./config-sections.ts";
import { rich, t } from "../../texts/texts.ts";
import { HelpText, ServiceText } from "../../parts/service-text.tsx";

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
            <ServiceText>{comment}</ServiceText>
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
