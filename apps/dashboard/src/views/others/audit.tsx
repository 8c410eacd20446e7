/** What was started, asked, answered and ended: lines that nobody can change without its being seen. */
import type { AuditEntry } from "../../api/shapes.ts";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Json } from "../../parts/json.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { usePaged } from "../../state/use-paged.ts";

interface Page {
  readonly entries: readonly AuditEntry[];
  readonly before: number | null;
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { label: "Line", cell: ({ n }) => n, narrow: true },
  { label: "When", cell: ({ at }) => <Ago at={at} />, narrow: true },
  { label: "What", cell: ({ kind }) => <code>{kind}</code>, narrow: true },
  { label: "Details", cell: ({ data, hash }) => <Json label="Details" value={{ ...(data as object), hash }} /> },
];

export function Audit() {
  const page = usePaged<Page>("/api/audit", ["audit"], { limit: 50 });
  return (
    <>
      <Heading title="Audit log" />
      <p>
        Each line contains the hash of the line before it. To check them all, run <Command>svc audit verify</Command>
      </p>
      <Shown read={page}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title="Nothing is in the log yet.">The first run of a procedure begins it.</Empty>
          ) : (
            <Table label="Audit log" columns={COLUMNS} rows={entries} keyOf={({ n }) => n} />
          )
        }
      </Shown>
      <Pager older={page.older} newer={page.newer} what="the audit log" />
    </>
  );
}
