/** Boards, the last readings of their pins, and the recent calls of agents. */
import type { AuditEntry, AuditPage } from "@svc/api";
import { Command, Empty, Heading, Section } from "../components/layout.tsx";
import { Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Name } from "../components/text.tsx";
import { Ago, Badge } from "../components/values.tsx";
import { useList } from "../state/use-reader.ts";
import { rich, t } from "../texts/texts.ts";

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
};

const COLUMNS: readonly Column<Board>[] = [
  {
    label: "hardware.board",
    cell: ({ alias, board, architecture }) => (
      <>
        <strong>{alias}</strong>
        <div class="hint">
          <Name>{architecture === null ? board : `${board}, ${architecture}`}</Name>
        </div>
      </>
    ),
  },
  { label: "hardware.port", cell: ({ path, transport }) => (path === null ? transport : <Name>{path}</Name>) },
  {
    label: "hardware.speaks",
    cell: ({ protocol }) => protocolOf(protocol),
  },
  {
    label: "common.state",
    cell: ({ connected, busy }) => <Badge state={connected ? "connected" : "not_connected"} busy={busy} />,
    narrow: true,
  },
  {
    label: "hardware.last-readings",
    cell: ({ readings }) =>
      readings.length === 0
        ? t("common.none")
        : readings.slice(0, 8).map(({ pin, value, analog, by, at }) => (
            <div key={pin}>
              {rich("hardware.gpio", {
                pin: String(pin),
                level: analog ? String(value) : value === 1 ? "HIGH" : "LOW",
                by: t(by === "read" ? "hardware.was-read" : "hardware.was-written"),
                when: <Ago at={at} />,
              })}
            </div>
          )),
  },
];

function protocolOf(protocol: string | null): string {
  if (protocol === null) return t("hardware.not-asked-yet");
  return protocol === "json" ? t("hardware.json-lines") : (PROTOCOLS[protocol] ?? protocol);
}

/** Tools that reach a board. */
const TOOLS = /^(?:gpio_|device_|pico_|i2c_|spi_|hardware_|rpi_)/;

interface BoardAction {
  readonly n: number;
  readonly at: string;
  readonly tool: string;
  readonly call: string;
  readonly outcome: string;
  readonly by: string;
}

const ACTIONS: readonly Column<BoardAction>[] = [
  { label: "common.when", cell: ({ at }) => <Ago at={at} />, narrow: true },
  { label: "hardware.tool", cell: ({ tool }) => <code>{tool}</code>, narrow: true },
  { label: "hardware.call", cell: ({ call }) => <Name>{call}</Name> },
  { label: "hardware.answer", cell: ({ outcome }) => <Badge state={outcome} />, narrow: true },
  { label: "hardware.by", cell: ({ by }) => <Name>{by}</Name> },
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
  { label: "common.when", cell: ({ at }) => <Ago at={at} />, narrow: true },
  { label: "hardware.board", cell: ({ device }) => <Name>{device}</Name>, narrow: true },
  { label: "hardware.tool", cell: ({ tool }) => <code>{tool}</code>, narrow: true },
  { label: "hardware.call", cell: ({ call }) => <Name>{call}</Name> },
  {
    label: "common.state",
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
  const audit = useList<AuditPage>("/api/audit", ["audit"], { limit: 200 });
  return (
    <>
      <Heading title={t("hardware.hardware")} />
      <Shown read={boards}>
        {({ boards: rows }) =>
          rows.length === 0 ? (
            <Empty title={t("hardware.no-board-is-connected")}>
              {rich("hardware.plug-one-in-or-add", {
                command: <Command>svc peripheral add arduino-uno /dev/ttyACM0</Command>,
              })}
            </Empty>
          ) : (
            <Table label={t("hardware.boards")} columns={COLUMNS} rows={rows} keyOf={({ alias }) => alias} />
          )
        }
      </Shown>
      <Section title={t("hardware.recent-calls")}>
        <Shown read={boards}>
          {({ calls }) =>
            calls.length === 0 ? (
              <Empty title={t("hardware.none-since-start")}>{t("hardware.calls-listed-here")}</Empty>
            ) : (
              <Table label={t("hardware.recent-calls")} columns={CALLS} rows={calls} keyOf={({ n }) => n} />
            )
          }
        </Shown>
      </Section>
      <Section title={t("hardware.what-agents-asked-to-do")}>
        <Shown read={audit}>
          {({ entries }) => {
            const actions = entries.flatMap(actionOf);
            return actions.length === 0 ? (
              <Empty title={t("hardware.nothing-yet")}>{t("hardware.calls-that-a-person-was")}</Empty>
            ) : (
              <Table label={t("hardware.calls")} columns={ACTIONS} rows={actions} keyOf={({ n }) => n} />
            );
          }}
        </Shown>
      </Section>
    </>
  );
}

function actionOf({ n, at, kind, data }: AuditEntry): readonly BoardAction[] {
  const { tool, call, outcome, by } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (kind !== "approval-answer" || typeof tool !== "string" || !TOOLS.test(tool)) return [];
  return [{ n, at, tool, call: textIn(call), outcome: textIn(outcome), by: textIn(by) }];
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
