/** Past and running runs, filtered, a page at a time. */
import type { SopRun, SopRunPage } from "@svc/api";
import { useState } from "preact/hooks";
import { Choice } from "../../components/fields.tsx";
import { Empty } from "../../components/layout.tsx";
import { Pager, Shown } from "../../components/shown.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Actor, Name } from "../../components/text.tsx";
import { Ago, Badge, Took } from "../../components/values.tsx";
import { hrefOf } from "../../state/route.ts";
import { usePaged } from "../../state/use-reader.ts";
import { t } from "../../texts/texts.ts";

const SOURCES = ["", "manual", "webhook", "cron", "channel_event", "mqtt", "peripheral"] as const;
const KINDS = ["", "real", "test"] as const;
const STATES = ["", "running", "waiting_approval", "completed", "failed", "cancelled"] as const;

const COLUMNS: readonly Column<SopRun>[] = [
  {
    label: "procedures.one-run",
    cell: ({ id, n, sop, test, retry_of: retried }) => (
      <>
        <a href={hrefOf("runs", id)}>
          #{n} <Name>{sop}</Name>
        </a>{" "}
        {test && <span class="mark">{t("procedures.test")}</span>}{" "}
        {retried !== null && <span class="mark">{t("procedures.retry-2")}</span>}
      </>
    ),
  },
  { label: "common.state", cell: ({ status }) => <Badge state={status} busy={status === "running"} />, narrow: true },
  { label: "common.started-by", cell: ({ started_by: by }) => <Actor>{by}</Actor> },
  { label: "common.when", cell: ({ started_at: at }) => <Ago at={at} />, narrow: true },
  { label: "common.took", cell: ({ started_at: from, ended_at: to }) => <Took from={from} to={to} />, narrow: true },
];

/** @param sop Only of this procedure. */
export function Runs({ sop }: { readonly sop?: string }) {
  const [status, setStatus] = useState<(typeof STATES)[number]>("");
  const [source, setSource] = useState<(typeof SOURCES)[number]>("");
  const [kind, setKind] = useState<(typeof KINDS)[number]>("");
  const test = kind === "" ? undefined : String(kind === "test");
  const page = usePaged<SopRunPage>("/api/sop-runs", ["procedures"], { sop, status, source, test, limit: 25 });
  const isFiltered = status !== "" || source !== "" || kind !== "";
  return (
    <>
      <div class="filters">
        <Choice label={t("common.state")} options={STATES} value={status} onChoose={setStatus} />
        <Choice label={t("common.started-by")} options={SOURCES} value={source} onChoose={setSource} />
        <Choice label={t("common.kind")} options={KINDS} value={kind} onChoose={setKind} />
      </div>
      <Shown read={page}>
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title={isFiltered ? t("procedures.no-run-is-like-this") : t("procedures.nothing-has-run-yet")} />
          ) : (
            <Table label={t("common.runs")} columns={COLUMNS} rows={runs} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      <Pager older={page.older} newer={page.newer} label={t("procedures.pages-of-runs")} />
    </>
  );
}
