/** The audit log: starts, requests, answers and ends. A changed line is detected. */
import type { AuditEntry, AuditPage } from "@svc/api";
import { Command, Empty, Heading } from "../components/layout.tsx";
import { Pager, Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Ago, Json } from "../components/values.tsx";
import { usePaged } from "../state/use-reader.ts";
import { rich, t } from "../texts/texts.ts";

const COLUMNS: readonly Column<AuditEntry>[] = [
  { label: "audit.line", cell: ({ n }) => n, narrow: true },
  { label: "common.when", cell: ({ at }) => <Ago at={at} />, narrow: true },
  { label: "audit.what", cell: ({ kind }) => <code>{kind}</code>, narrow: true },
  {
    label: "common.details",
    cell: ({ data, hash }) => <Json label={t("common.details")} value={{ ...(data as object), hash }} />,
  },
];

export function Audit() {
  const page = usePaged<AuditPage>("/api/audit", ["audit"], { limit: 50 });
  return (
    <>
      <Heading title={t("audit.audit-log")} />
      <p>{rich("audit.each-line-contains-the-hash", { command: <Command>svc audit verify</Command> })}</p>
      <Shown read={page}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title={t("audit.nothing-is-in-the-log")}>{t("audit.the-first-run-of-a")}</Empty>
          ) : (
            <Table label={t("audit.audit-log")} columns={COLUMNS} rows={entries} keyOf={({ n }) => n} />
          )
        }
      </Shown>
      <Pager older={page.older} newer={page.newer} label={t("audit.pages")} />
    </>
  );
}
