import { useState } from "preact/hooks";
import type { Run } from "../../api/governed-shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Name } from "../../parts/name.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago, Took } from "../../parts/time.tsx";
import { hrefOf } from "../../route/route.ts";
import { usePaged } from "../../state/use-paged.ts";

interface Page {
  readonly runs: readonly Run[];
  readonly before: number | null;
}

const SOURCES = ["", "manual", "webhook", "cron", "channel_event", "mqtt", "peripheral"] as const;
const KINDS = ["", "real", "test"] as const;
const STATES = ["", "running", "waiting_approval", "completed", "failed", "cancelled"] as const;

const COLUMNS: readonly Column<Run>[] = [
  {
    label: "Run",
    cell: ({ id, n, sop, test, retry_of: retried }) => (
      <>
        <a href={hrefOf("runs", id)}>
          #{n} <Name>{sop}</Name>
        </a>{" "}
        {test && <span class="mark">test</span>} {retried !== null && <span class="mark">retry</span>}
      </>
    ),
  },
  { label: "State", cell: ({ status }) => <Badge state={status} busy={status === "running"} />, narrow: true },
  { label: "Started by", cell: ({ started_by: by }) => <Name>{by}</Name> },
  { label: "When", cell: ({ started_at: at }) => <Ago at={at} />, narrow: true },
  { label: "Took", cell: ({ started_at: from, ended_at: to }) => <Took from={from} to={to} />, narrow: true },
];

/** @param sop Of one procedure alone. */
export function Runs({ sop }: { readonly sop?: string }) {
  const [status, setStatus] = useState<(typeof STATES)[number]>("");
  const [source, setSource] = useState<(typeof SOURCES)[number]>("");
  const [kind, setKind] = useState<(typeof KINDS)[number]>("");
  const test = kind === "" ? undefined : String(kind === "test");
  const page = usePaged<Page>("/api/sop-runs", ["procedures"], { sop, status, source, test, limit: 25 });
  const isFiltered = status !== "" || source !== "" || kind !== "";
  return (
    <>
      <div class="filters">
        <Choice label="State" options={STATES} value={status} onChoose={setStatus} />
        <Choice label="Started by" options={SOURCES} value={source} onChoose={setSource} />
        <Choice label="Kind" options={KINDS} value={kind} onChoose={setKind} />
      </div>
      <Shown read={page}>
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title={isFiltered ? "No run is like this." : "Nothing has run yet."} />
          ) : (
            <Table label="Runs" columns={COLUMNS} rows={runs} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      <Pager older={page.older} newer={page.newer} label="Pages of runs" />
    </>
  );
}
