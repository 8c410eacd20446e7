/** Tokens and cost: one column per day, split by model, agent or channel. */
import type { ClientUsage, UsageLine, Usage as UsageReport } from "@svc/api";
import { useState } from "preact/hooks";
import { Choice } from "../../components/fields.tsx";
import { Empty, Heading, Section } from "../../components/layout.tsx";
import { Shown } from "../../components/shown.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Name } from "../../components/text.tsx";
import { hrefOf } from "../../state/route.ts";
import { useList } from "../../state/use-reader.ts";
import { dollars } from "../../texts/format.ts";
import { dates, number, rich, t, wordOf } from "../../texts/texts.ts";

const RANGES = ["7", "30", "90"] as const;
const MEASURES = ["cost", "tokens", "turns"] as const;
const SPLITS = ["model", "agent", "channel"] as const;

type Measure = (typeof MEASURES)[number];

export function Usage() {
  const [range, setRange] = useState<(typeof RANGES)[number]>("30");
  const [measure, setMeasure] = useState<Measure>("tokens");
  const [split, setSplit] = useState<Split>("model");
  const read = useList<UsageReport>("/api/usage", ["sessions"], { days: range });
  return (
    <>
      <Heading title={t("usage.usage")} />
      <div class="filters">
        <Choice label={t("usage.show")} options={MEASURES} value={measure} onChoose={setMeasure} />
        <Choice label={t("usage.by")} options={SPLITS} value={split} onChoose={setSplit} />
        <Choice
          label={t("usage.last")}
          options={RANGES}
          value={range}
          onChoose={setRange}
          textOf={(days) => t("usage.n-days", { n: Number(days) })}
        />
      </div>
      <Shown read={read}>
        {({ since, today, usage, clients }) =>
          usage.length === 0 ? (
            <Empty title={t("usage.no-model-was-asked-in")}>
              {t("usage.the-built-in-echo-costs")} <a href={hrefOf("model")}>{t("common.connect-a-model")}</a>
            </Empty>
          ) : (
            <>
              <Chart days={daysFrom(since, today)} usage={usage} measure={measure} split={split} />
              {clients.length > 0 && (
                <Section title={t("usage.today-by-client")}>
                  <Table
                    label={t("usage.today-by-client")}
                    columns={CLIENT_COLUMNS}
                    rows={clients}
                    keyOf={(line) => `${clients.indexOf(line)}`}
                  />
                </Section>
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}

function clientText({ kind, device, channel }: ClientUsage): string {
  switch (kind) {
    case "device":
      return device?.name ?? "";
    case "person":
      return t("usage.a-person-of", { channel });
    case "terminal":
      return t("common.terminal");
    case "procedures":
      return t("common.procedures");
    case "anonymous":
      return t("usage.callers-without-a-token");
    case "gone":
      return t("usage.a-removed-device");
  }
}

const CLIENT_COLUMNS: readonly Column<ClientUsage>[] = [
  { label: "usage.client", cell: (line) => <Name>{clientText(line)}</Name> },
  { label: "common.agent", cell: ({ agent }) => <Name>{agent}</Name> },
  {
    label: "usage.cost",
    cell: ({ cost_usd: cost, limit_usd: limit }) =>
      limit === null ? dollars(cost) : t("usage.cost-of-limit", { cost: dollars(cost), limit: dollars(limit) }),
    narrow: true,
  },
];

const VALUES: Readonly<Record<Measure, (totals: Totals) => number>> = {
  cost: ({ costUsd }) => costUsd,
  tokens: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
  turns: ({ turns }) => turns,
};

const shown = (measure: Measure, n: number): string =>
  measure === "cost" ? dollars(n) : t(measure === "tokens" ? "usage.n-tokens" : "usage.n-turns", { n });

const BY = {
  model: { column: "common.model", title: "usage.by-model", table: "usage.usage-by-model" },
  agent: { column: "common.agent", title: "usage.by-agent", table: "usage.usage-by-agent" },
  channel: { column: "common.channel", title: "usage.by-channel", table: "usage.usage-by-channel" },
} as const;

interface ChartProps {
  readonly days: readonly string[];
  readonly usage: readonly UsageLine[];
  readonly measure: Measure;
  readonly split: Split;
}

const WIDTH = 12;
const HEIGHT = 120;
/** Further groups share the last colour: more are hard to distinguish. */
const COLOURS = 6;

function Chart({ days, usage, measure, split }: ChartProps) {
  const value = VALUES[measure];
  const { parts, total, byDay } = splitUsage(usage, split);
  const names = parts.toSorted((a, b) => value(b.totals) - value(a.totals)).map((part, rank) => ({ ...part, rank }));
  const sums = days.map((day) => value(byDay(day)));
  const most = Math.max(...sums);
  const top = most === 0 ? 1 : most;
  const unknown = total.unknownCostTurns;
  return (
    <>
      <Section
        title={t("usage.by-day")}
        aside={<p class="hint">{t("usage.in-all", { total: shown(measure, value(total)) })}</p>}
      >
        <svg
          class="usage-chart"
          viewBox={`0 0 ${days.length * WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t("usage.chart", {
            measure: wordOf(measure),
            split: wordOf(split),
            total: shown(measure, value(total)),
          })}
        >
          {days.map((day, index) => (
            <g key={day}>
              <title>{`${dayText(day)}: ${shown(measure, sums[index] ?? 0)}`}</title>
              <rect class="hover" x={index * WIDTH} y="0" width={WIDTH} height={HEIGHT} />
              <Stack
                x={index * WIDTH}
                heights={names.map(({ name }) => (value(byDay(day, name)) / top) * (HEIGHT - 4))}
              />
            </g>
          ))}
        </svg>
        <p class="scale">
          <span>{dayText(days[0] ?? "")}</span>
          <span>{t("usage.at-most-a-day", { most: shown(measure, most) })}</span>
          <span>{dayText(days.at(-1) ?? "")}</span>
        </p>
        {measure === "cost" && unknown > 0 && (
          <p class="hint">
            {rich("usage.of-models-without-a-known", {
              n: unknown,
              link: <a href={hrefOf("settings", "prices")}>{t("usage.set-prices")}</a>,
            })}
          </p>
        )}
      </Section>
      <Section title={t(BY[split].title)}>
        <Table label={t(BY[split].table)} columns={columnsOf(split)} rows={names} keyOf={({ name }) => name} />
      </Section>
    </>
  );
}

/** `2026-11-26`, in UTC. */
const dayText = (day: string): string => dates({ dateStyle: "medium", timeZone: "UTC" }).format(Date.parse(day));

/** The largest at the bottom. */
function Stack({ x, heights }: { readonly x: number; readonly heights: readonly number[] }) {
  let y = HEIGHT;
  return (
    <>
      {heights.map((height, index) => {
        if (height <= 0) return null;
        y -= height;
        return (
          <rect
            key={index}
            class={`part-${Math.min(index, COLOURS - 1)}`}
            x={x + 1.5}
            y={y}
            width={WIDTH - 3}
            height={height}
          />
        );
      })}
    </>
  );
}

const columnsOf = (split: Split): readonly Column<UsagePart>[] => [
  {
    label: BY[split].column,
    cell: ({ name, rank }) => (
      <span class={`usage-part part-${Math.min(rank, COLOURS - 1)}`}>
        <Name>{name === "" ? t("usage.page-command-line-procedures") : name}</Name>
      </span>
    ),
  },
  { label: "usage.turns", cell: ({ totals }) => number(totals.turns), narrow: true },
  { label: "usage.tokens-in", cell: ({ totals }) => number(totals.inputTokens), narrow: true },
  { label: "usage.tokens-out", cell: ({ totals }) => number(totals.outputTokens), narrow: true },
  {
    label: "usage.cost",
    cell: ({ totals: { turns, costUsd, unknownCostTurns: unknown } }) => {
      if (unknown === 0) return dollars(costUsd);
      return unknown === turns
        ? t("usage.price-unknown")
        : t("usage.cost-in-part", { cost: dollars(costUsd), n: unknown });
    },
    narrow: true,
  },
];

type Split = "model" | "agent" | "channel";

interface Totals {
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly unknownCostTurns: number;
}

interface UsagePart {
  readonly name: string;
  readonly totals: Totals;
  /** 0: the largest. */
  readonly rank: number;
}

const NONE: Totals = { turns: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unknownCostTurns: 0 };

const plus = (sum: Totals, line: UsageLine): Totals => ({
  turns: sum.turns + line.turns,
  inputTokens: sum.inputTokens + line.input_tokens,
  outputTokens: sum.outputTokens + line.output_tokens,
  costUsd: sum.costUsd + line.cost_usd,
  unknownCostTurns: sum.unknownCostTurns + line.unknown_cost_turns,
});

/** Sums usage by day and by group. */
export function splitUsage(usage: readonly UsageLine[], split: Split) {
  const parts = new Map<string, Totals>();
  const days = new Map<string, Totals>();
  let total = NONE;
  const add = (map: Map<string, Totals>, key: string, line: UsageLine): void =>
    void map.set(key, plus(map.get(key) ?? NONE, line));
  for (const line of usage) {
    add(parts, line[split], line);
    add(days, line.day, line);
    add(days, JSON.stringify([line.day, line[split]]), line);
    total = plus(total, line);
  }
  return {
    parts: [...parts].map(([name, totals]) => ({ name, totals })),
    total,
    /** Sums of all groups or of one. */
    byDay: (day: string, part?: string): Totals =>
      days.get(part === undefined ? day : JSON.stringify([day, part])) ?? NONE,
  };
}

const DAY_MS = 86_400_000;

/** Each day of a range, days without usage included. */
export function daysFrom(since: string, today: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(since); at <= Date.parse(today); at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}
