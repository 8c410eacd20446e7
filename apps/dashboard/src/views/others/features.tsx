/** What this build can do, what it can't, and how to get it. */
import { useState } from "preact/hooks";
import type { Feature } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { useList } from "../../state/use-reader.ts";

interface Report {
  readonly profile: string;
  readonly features: readonly Feature[];
}

const NAME: Column<Feature> = {
  label: "Feature",
  cell: ({ id, summary }) => (
    <>
      <strong>{id}</strong>
      <div class="hint">{summary}</div>
    </>
  ),
};

const IN: readonly Column<Feature>[] = [
  NAME,
  {
    label: "State",
    cell: ({ state, reason, sections }) => (
      <>
        <Badge state={state} /> {reason === null ? "" : <Name>{reason}</Name>}
        {state === "off" && reason === null && sections.length > 0 && (
          <div class="hint">Set [{sections[0]}] in the config.</div>
        )}
      </>
    ),
  },
  { label: "Tools", cell: ({ tools }) => (tools.length === 0 ? "none" : tools.join(", ")) },
];

const ABSENT: readonly Column<Feature>[] = [
  NAME,
  { label: "How to get it", cell: (feature) => <Way feature={feature} /> },
];

export function Features() {
  const features = useList<Report>("/api/features", ["status"]);
  const [text, setText] = useState("");
  const fits = ({ id, summary, tools }: Feature): boolean =>
    `${id} ${summary} ${tools.join(" ")}`.toLowerCase().includes(text.trim().toLowerCase());
  return (
    <>
      <Heading title="Features" />
      <div class="filters">
        <SearchField label="Contains" value={text} onChange={setText} />
      </div>
      <Shown read={features}>
        {({ profile, features: all }) => (
          <>
            <Listed
              title={`In this build (${profile})`}
              columns={IN}
              features={all.filter((one) => one.included && fits(one))}
            />
            <Listed
              title="Not in this build"
              columns={ABSENT}
              features={all.filter((one) => !one.included && fits(one))}
            />
          </>
        )}
      </Shown>
    </>
  );
}

interface ListedProps {
  readonly title: string;
  readonly columns: readonly Column<Feature>[];
  readonly features: readonly Feature[];
}

function Listed({ title, columns, features }: ListedProps) {
  return (
    <Section title={title}>
      {features.length === 0 ? (
        <Empty title="None of them." />
      ) : (
        <Table label={title} columns={columns} rows={features} keyOf={({ id }) => id} />
      )}
    </Section>
  );
}

function Way({ feature: { build, planned, profiles } }: { readonly feature: Feature }) {
  if (planned) return <>It is not written yet{profiles.length > 0 && `; it will be in ${profiles.join(", ")}`}.</>;
  return (
    <>
      <Command>{build}</Command>
      {profiles.length > 0 && (
        <div class="hint">
          or <Command>{`npx pnpm build ${profiles[0]}`}</Command>
        </div>
      )}
    </>
  );
}
