/** Features of this build, missing ones, and how to add them. */
import type { FeatureInfo, FeatureReport } from "@svc/api";
import { useState } from "preact/hooks";
import { SearchField } from "../components/fields.tsx";
import { Command, Empty, Heading, Section } from "../components/layout.tsx";
import { Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { HelpText, ServiceText } from "../components/text.tsx";
import { Badge } from "../components/values.tsx";
import { useList } from "../state/use-reader.ts";
import { rich, t } from "../texts/texts.ts";

const NAME: Column<FeatureInfo> = {
  label: "common.feature",
  cell: ({ id, summary }) => (
    <>
      <strong>{id}</strong>
      <div class="hint">
        <HelpText>{summary}</HelpText>
      </div>
    </>
  ),
};

const IN: readonly Column<FeatureInfo>[] = [
  NAME,
  {
    label: "common.state",
    cell: ({ state, reason, sections }) => (
      <>
        <Badge state={state} /> {reason === null ? "" : <ServiceText>{reason}</ServiceText>}
        {state === "off" && reason === null && sections.length > 0 && (
          <div class="hint">{t("features.set-in-the-config", { section: sections[0] ?? "" })}</div>
        )}
      </>
    ),
  },
  { label: "common.tools", cell: ({ tools }) => (tools.length === 0 ? t("common.none") : tools.join(", ")) },
];

const ABSENT: readonly Column<FeatureInfo>[] = [
  NAME,
  { label: "features.how-to-get-it", cell: (feature) => <HowToGet feature={feature} /> },
];

export function Features() {
  const features = useList<FeatureReport>("/api/features", ["status"]);
  const [text, setText] = useState("");
  const fits = ({ id, summary, tools }: FeatureInfo): boolean =>
    `${id} ${summary} ${tools.join(" ")}`.toLowerCase().includes(text.trim().toLowerCase());
  return (
    <>
      <Heading title={t("common.features")} />
      <div class="filters">
        <SearchField label={t("common.contains")} value={text} onChange={setText} />
      </div>
      <Shown read={features}>
        {({ profile, features: all }) => (
          <>
            <Listed
              title={t("features.in-this-build", { profile })}
              columns={IN}
              features={all.filter((one) => one.included && fits(one))}
            />
            <Listed
              title={t("features.not-in-this-build")}
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
  readonly columns: readonly Column<FeatureInfo>[];
  readonly features: readonly FeatureInfo[];
}

function Listed({ title, columns, features }: ListedProps) {
  return (
    <Section title={title}>
      {features.length === 0 ? (
        <Empty title={t("features.none-of-them")} />
      ) : (
        <Table label={title} columns={columns} rows={features} keyOf={({ id }) => id} />
      )}
    </Section>
  );
}

function HowToGet({ feature: { build, planned, profiles } }: { readonly feature: FeatureInfo }) {
  if (planned)
    return (
      <>{profiles.length > 0 ? t("features.planned-for", { profiles: profiles.join(", ") }) : t("features.planned")}</>
    );
  return (
    <>
      <Command>{build}</Command>
      {profiles.length > 0 && (
        <div class="hint">{rich("features.or", { command: <Command>{`npx pnpm build ${profiles[0]}`}</Command> })}</div>
      )}
    </>
  );
}
