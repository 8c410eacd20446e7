/** Procedures: their triggers, and errors in their files. */
import type { Sop, SopList, SopTrigger } from "@svc/api";
import { useState } from "preact/hooks";
import { SearchField } from "../../components/fields.tsx";
import { Command, Empty, Heading, Section } from "../../components/layout.tsx";
import { Shown } from "../../components/shown.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Name, ServiceText } from "../../components/text.tsx";
import { Ago, Badge } from "../../components/values.tsx";
import { useMayOperate } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useList } from "../../state/use-reader.ts";
import { rich, t, wordOf } from "../../texts/texts.ts";
import { Runs } from "./runs.tsx";

const COLUMNS: readonly Column<Sop>[] = [
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
  const procedures = useList<SopList>("/api/sops", ["procedures"]);
  const mayOperate = useMayOperate();
  const [text, setText] = useState("");
  const fits = ({ name, description }: Sop): boolean =>
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

function Known({ procedures }: { readonly procedures: readonly Sop[] }) {
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

function Broken({ problems }: { readonly problems: SopList["broken"] }) {
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

export function Triggers({ triggers }: { readonly triggers: readonly SopTrigger[] }) {
  return (
    <ul class="bare">
      {triggers.map((trigger, index) => (
        <li key={index}>
          <What trigger={trigger} />
          {trigger.condition !== null && <> {rich("procedures.if", { condition: <code>{trigger.condition}</code> })}</>}
        </li>
      ))}
    </ul>
  );
}

function What({ trigger }: { readonly trigger: SopTrigger }) {
  switch (trigger.type) {
    case "webhook":
      return <>{rich("procedures.requests-to", { path: <code>{trigger.path}</code> })}</>;
    case "cron":
      return (
        <>
          <code>{trigger.expression}</code> {trigger.timezone && <Name>{trigger.timezone}</Name>}
          {trigger.next_at && (
            <span class="hint"> {rich("procedures.next", { when: <Ago at={trigger.next_at} /> })}</span>
          )}
        </>
      );
    case "channel_event":
      return <>{rich("procedures.the-event", { event: <code>{trigger.event}</code> })}</>;
    case "mqtt":
      return <>{rich("procedures.mqtt-messages-on", { topic: <code>{trigger.topic}</code> })}</>;
    case "peripheral":
      return (
        <>
          {rich("procedures.of-the-board", {
            signal: <code>{trigger.signal}</code>,
            board: <code>{trigger.board}</code>,
          })}
        </>
      );
    default:
      return <>{t("procedures.a-person")}</>;
  }
}
