/** Procedures: what starts them, and what is wrong with their files. */
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
import { plain } from "../../text/words.ts";
import { Runs } from "./runs.tsx";
import { Triggers } from "./triggers.tsx";

const COLUMNS: readonly Column<Procedure>[] = [
  {
    label: "Procedure",
    cell: ({ name, description, enabled }) => (
      <>
        <a href={hrefOf("procedures", name)}>
          <Name>{name}</Name>
        </a>
        {!enabled && <span class="mark">disabled</span>}
        <div class="hint">
          <Name>{description}</Name>
        </div>
      </>
    ),
  },
  { label: "Started by", cell: ({ triggers }) => <Triggers triggers={triggers} /> },
  { label: "Mode", cell: ({ execution_mode: mode, priority }) => `${plain(mode)}, ${priority}`, narrow: true },
  {
    label: "Last run",
    cell: ({ last_run: run }) =>
      run === null ? (
        "never"
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

/** A thousand rows are more than anybody reads; the filter leads to each. */
const MOST_SHOWN = 100;

export function Procedures() {
  const procedures = useList<Listed>("/api/sops", ["procedures"]);
  const mayOperate = useMayOperate();
  const [text, setText] = useState("");
  const fits = ({ name, description }: Procedure): boolean =>
    `${name} ${description}`.toLowerCase().includes(text.trim().toLowerCase());
  return (
    <>
      <Heading title="Procedures">
        {mayOperate && (
          <a class="button main" href={hrefOf("new-procedure")}>
            New procedure
          </a>
        )}
      </Heading>
      <div class="filters">
        <SearchField label="Contains" value={text} onChange={setText} />
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
              <Empty title="No procedures yet.">
                A procedure is a list of steps that the agent goes through by itself when something happens. Write the
                first one here, or at the terminal: <Command>svc sop new</Command>
              </Empty>
            ) : (
              <Known procedures={sops.filter(fits)} />
            )}
          </>
        )}
      </Shown>
      {mayOperate && (
        <Section title="Runs">
          <Runs />
        </Section>
      )}
    </>
  );
}

function Known({ procedures }: { readonly procedures: readonly Procedure[] }) {
  if (procedures.length === 0) return <Empty title="Nothing fits." />;
  const shown = procedures.slice(0, MOST_SHOWN);
  return (
    <>
      <Table label="Procedures" columns={COLUMNS} rows={shown} keyOf={({ name }) => name} />
      {shown.length < procedures.length && (
        <p class="hint">
          The first {shown.length} of {procedures.length}.
        </p>
      )}
    </>
  );
}

function Broken({ problems }: { readonly problems: Listed["broken"] }) {
  if (problems.length === 0) return null;
  return (
    <Section title="Files with problems">
      <ul>
        {problems.map(({ name, problem }) => (
          <li key={name}>
            <a href={hrefOf("procedures", name)}>
              <Name>{name}</Name>
            </a>
            : <Name>{problem}</Name>
          </li>
        ))}
      </ul>
    </Section>
  );
}
