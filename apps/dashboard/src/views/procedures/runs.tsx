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

const STATES = ["", "running", "waiting_approval", "completed", "failed", "cancelled"] as const;

const COLUMNS: readonly Column<Run>[] = [
  {
    label: "Run",
    cell: ({ id, n, sop }) => (
      <a href={hrefOf("runs", id)}>
        #{n} <Name>{sop}</Name>
      </a>
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
  const page = usePaged<Page>("/api/sop-runs", ["procedures"], { sop, status, limit: 25 });
  return (
    <>
      <div class="filters">
        <Choice label="State" options={STATES} value={status} onChoose={setStatus} />
      </div>
      <Shown read={page}>
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title={status === "" ? "Nothing has run yet." : "No run is in this state."} />
          ) : (
            <Table label="Runs" columns={COLUMNS} rows={runs} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      <Pager older={page.older} newer={page.newer} what="runs" />
    </>
  );
}
