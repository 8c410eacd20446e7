/** Procedures: their triggers, and errors in their files. */
import { useState } from "preact/hooks";
import type { Procedure, Procedures as Listed } from "../../api/governed-shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { useMayOperate } from "../../session/use-device.ts";
import { useList } from "../../state/use-reader.ts";
import { Runs } from "./runs.tsx";
import { Triggers } from "./triggers.tsx";
import { rich, t, wordOf } from "../../texts/texts.ts";
import { ServiceText } from "../../parts/service-text.tsx";

const COLUMNS: readonly Column<Procedure>[] = [
  {
    label: "procedures.procedure",
    cell: ({ name, description, enabled }) => (
      <>
        <a href={hrefOf("procedures", name)}>
          <Name>{name}</Name>
        </a>
        {!enabled && <span class="mark">{t("procedures.disabled")}</span>}
        <div class="hint">
          <Name>{description}</Name>
        </div>
      </>
    ),
  },
  { label: "common.started-by", cell: ({ triggers }) => <Triggers triggers={triggers} /> },
  {
    label: "common.mode",
    cell: ({ execution_mode: mode, priority }) => `${wordOf(mode)}, ${wordOf(priority)}`,
    narrow: true,
  },
  {
    label: "procedures.last-run",
    cell: ({ last_run: run }) =>
      run === null ? (
        t("common.never")
      ) : (
        <>
          <Badge state={run.status} />{" "}
          <a href={hrefOf("runs", run.id)}>
            <Ago at={run.started_at} />
          </a>
        </>
      ),
    narrow: true,
  },
];

/** A thousand rows are more than a reader needs; the filter finds the rest. */
const MOST_SHOWN = 100;

export function Procedures() {
  const procedures = useList<Listed>("/api/sops", ["procedures"]);
  const mayOperate = useMayOperate();
  const [text, setText] = useState("");
  const fits = ({ name, description }: Procedure): boolean =>
    `${name} ${description}`.toLowerCase().includes(text.trim().toLowerCase());
  return (
    <>
      <Heading title={t("common.procedures")}>
        {mayOperate && (
          <a class="button main" href={hrefOf("new-procedure")}>
            {t("procedures.new-procedure")}
          </a>
        )}
      </Heading>
      <div class="filters">
        <SearchField label={t("common.contains")} value={text} onChange={setText} />
      </div>
      <Shown read={procedures}>
        {({ sops, broken }) => (
          <>
            <Broken
              problems={[
                ...broken,
                ...sops.flatMap(({ name, problem }) => (problem === null ? [] : [{ name, problem }])),
              ]}
            />
            {sops.length === 0 ? (
              <Empty title={t("procedures.no-procedures-yet")}>
                {rich("procedures.a-procedure-is-a-list", { command: <Command>svc sop new</Command> })}
              </Empty>
            ) : (
              <Known procedures={sops.filter(fits)} />
            )}
          </>
        )}
      </Shown>
      {mayOperate && (
        <Section title={t("common.runs")}>
          <Runs />
        </Section>
      )}
    </>
  );
}

function Known({ procedures }: { readonly procedures: readonly Procedure[] }) {
  if (procedures.length === 0) return <Empty title={t("common.nothing-fits")} />;
  const shown = procedures.slice(0, MOST_SHOWN);
  return (
    <>
      <Table label={t("common.procedures")} columns={COLUMNS} rows={shown} keyOf={({ name }) => name} />
      {shown.length < procedures.length && (
        <p class="hint">{t("procedures.the-first-of", { n: shown.length, all: procedures.length })}</p>
      )}
    </>
  );
}

function Broken({ problems }: { readonly problems: Listed["broken"] }) {
  if (problems.length === 0) return null;
  return (
    <Section title={t("procedures.files-with-problems")}>
      <ul>
        {problems.map(({ name, problem }) => (
          <li key={name}>
            <a href={hrefOf("procedures", name)}>
              <Name>{name}</Name>
            </a>
            : <ServiceText>{problem}</ServiceText>
          </li>
        ))}
      </ul>
    </Section>
  );
}
