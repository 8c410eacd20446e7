/** Boards: which there are, what their pins were last, and what agents were allowed to do with them. */
import type { AuditEntry } from "../../api/shapes.ts";
import { Badge } from "../../parts/badge.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { useList } from "../../state/use-reader.ts";

interface Reading {
  readonly pin: number;
  readonly value: number;
  readonly analog: boolean;
  readonly by: "read" | "written";
  readonly at: string;
}

interface Board {
  readonly alias: string;
  readonly board: string;
  readonly architecture: string | null;
  readonly transport: string;
  readonly path: string | null;
  readonly connected: boolean;
  readonly busy: boolean;
  readonly protocol: string | null;
  readonly readings: readonly Reading[];
}

const PROTOCOLS: Readonly<Record<string, string>> = {
  micropython: "MicroPython",
  firmata: "Firmata",
  json: "JSON lines",
};

const COLUMNS: readonly Column<Board>[] = [
  {
    label: "Board",
    cell: ({ alias, board, architecture }) => (
      <>
        <strong>{alias}</strong>
        <div class="hint">
          <Name>{architecture === null ? board : `${board}, ${architecture}`}</Name>
        </div>
      </>
    ),
  },
  { label: "Port", cell: ({ path, transport }) => (path === null ? transport : <Name>{path}</Name>) },
  {
    label: "Speaks",
    cell: ({ protocol }) => (protocol === null ? "not asked yet" : (PROTOCOLS[protocol] ?? protocol)),
  },
  {
    label: "State",
    cell: ({ connected, busy }) => <Badge state={connected ? "connected" : "not connected"} busy={busy} />,
    narrow: true,
  },
  {
    label: "Last readings",
    cell: ({ readings }) =>
      readings.length === 0
        ? "none"
        : readings.slice(0, 8).map(({ pin, value, analog, by, at }) => (
            <div key={pin}>
              GPIO {pin} {analog ? value : value === 1 ? "HIGH" : "LOW"}, {by} <Ago at={at} />
            </div>
          )),
  },
];

/** Tools that reach a board. */
const TOOLS = /^(?:gpio_|device_|pico_|i2c_|spi_|hardware_|rpi_)/;

interface Deed {
  readonly n: number;
  readonly at: string;
  readonly tool: string;
  readonly call: string;
  readonly outcome: string;
  readonly by: string;
}

const DEEDS: readonly Column<Deed>[] = [
  { label: "When", cell: ({ at }) => <Ago at={at} />, narrow: true },
  { label: "Tool", cell: ({ tool }) => <code>{tool}</code>, narrow: true },
  { label: "Call", cell: ({ call }) => <Name>{call}</Name> },
  { label: "Answer", cell: ({ outcome }) => <Badge state={outcome} />, narrow: true },
  { label: "By", cell: ({ by }) => <Name>{by}</Name> },
];

interface Call {
  readonly n: number;
  readonly at: string;
  readonly device: string;
  readonly tool: string;
  readonly call: string;
  readonly state: "running" | "done" | "failed";
  readonly code: string | null;
}

const CALLS: readonly Column<Call>[] = [
  { label: "When", cell: ({ at }) => <Ago at={at} />, narrow: true },
  { label: "Board", cell: ({ device }) => <Name>{device}</Name>, narrow: true },
  { label: "Tool", cell: ({ tool }) => <code>{tool}</code>, narrow: true },
  { label: "Call", cell: ({ call }) => <Name>{call}</Name> },
  {
    label: "State",
    cell: ({ state, code }) => (
      <>
        <Badge state={state} busy={state === "running"} />
        {code === null ? null : <div class="hint">{code}</div>}
      </>
    ),
    narrow: true,
  },
];

export function Hardware() {
  const boards = useList<{ readonly boards: readonly Board[]; readonly calls: readonly Call[] }>(
    "/api/hardware/boards",
    ["hardware", "status"],
  );
  const audit = useList<{ readonly entries: readonly AuditEntry[] }>("/api/audit", ["audit"], { limit: 200 });
  return (
    <>
      <Heading title="Hardware" />
      <Shown read={boards}>
        {({ boards: rows }) =>
          rows.length === 0 ? (
            <Empty title="No board is connected.">
              Plug one in, or add one: <Command>svc peripheral add arduino-uno /dev/ttyACM0</Command>
            </Empty>
          ) : (
            <Table label="Boards" columns={COLUMNS} rows={rows} keyOf={({ alias }) => alias} />
          )
        }
      </Shown>
      <Section title="Recent calls">
        <Shown read={boards}>
          {({ calls }) =>
            calls.length === 0 ? (
              <Empty title="None since svc started.">
                Calls that run, that are done and that failed are listed here.
              </Empty>
            ) : (
              <Table label="Recent calls" columns={CALLS} rows={calls} keyOf={({ n }) => n} />
            )
          }
        </Shown>
      </Section>
      <Section title="What agents asked to do with them">
        <Shown read={audit}>
          {({ entries }) => {
            const deeds = entries.flatMap(deedOf);
            return deeds.length === 0 ? (
              <Empty title="Nothing yet.">
                Calls that a person was asked about are listed here; the audit log has all of them.
              </Empty>
            ) : (
              <Table label="Calls" columns={DEEDS} rows={deeds} keyOf={({ n }) => n} />
            );
          }}
        </Shown>
      </Section>
    </>
  );
}

function deedOf({ n, at, kind, data }: AuditEntry): readonly Deed[] {
  const { tool, call, outcome, by } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (kind !== "approval-answer" || typeof tool !== "string" || !TOOLS.test(tool)) return [];
  return [{ n, at, tool, call: wordOf(call), outcome: wordOf(outcome), by: wordOf(by) }];
}

const wordOf = (value: unknown): string => (typeof value === "string" ? value : "");
