/** Tokens and cost: a column a day, split by model, agent or channel. */
import { useState } from "preact/hooks";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Heading } from "../../parts/heading.tsx";
import { Name } from "../../parts/name.tsx";
import { Section } from "../../parts/section.tsx";
import { Shown } from "../../parts/shown.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { hrefOf } from "../../route/route.ts";
import { useList } from "../../state/use-reader.ts";
import { count, dollars } from "../../text/words.ts";
import { daysFrom, type Split, splitUsage, type Totals, type UsageLine, type UsagePart } from "./usage-sums.ts";

const RANGES = ["7 days", "30 days", "90 days"] as const;
const MEASURES = ["cost", "tokens", "turns"] as const;
const SPLITS = ["model", "agent", "channel"] as const;

type Measure = (typeof MEASURES)[number];

interface Usage {
  readonly since: string;
  readonly today: string;
  readonly usage: readonly UsageLine[];
}

export function Usage() {
  const [range, setRange] = useState<(typeof RANGES)[number]>("30 days");
  const [measure, setMeasure] = useState<Measure>("tokens");
  const [split, setSplit] = useState<Split>("model");
  const read = useList<Usage>("/api/usage", ["sessions"], { days: Number.parseInt(range, 10) });
  return (
    <>
      <Heading title="Usage" />
      <div class="filters">
        <Choice label="Show" options={MEASURES} value={measure} onChoose={setMeasure} />
        <Choice label="By" options={SPLITS} value={split} onChoose={setSplit} />
        <Choice label="Last" options={RANGES} value={range} onChoose={setRange} />
      </div>
      <Shown read={read}>
        {({ since, today, usage }) =>
          usage.length === 0 ? (
            <Empty title="No model was asked in these days.">
              The built-in echo costs nothing and is not counted. <a href={hrefOf("model")}>Connect a model</a>
            </Empty>
          ) : (
            <Chart days={daysFrom(since, today)} usage={usage} measure={measure} split={split} />
          )
        }
      </Shown>
    </>
  );
}

const VALUES: Readonly<Record<Measure, (totals: Totals) => number>> = {
  cost: ({ costUsd }) => costUsd,
  tokens: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
  turns: ({ turns }) => turns,
};

const number = (n: number): string => n.toLocaleString("en");

const shown = (measure: Measure, n: number): string =>
  measure === "cost" ? dollars(n) : `${number(n)} ${n === 1 ? measure.slice(0, -1) : measure}`;

interface ChartProps {
  readonly days: readonly string[];
  readonly usage: readonly UsageLine[];
  readonly measure: Measure;
  readonly split: Split;
}

const WIDTH = 12;
const HEIGHT = 120;
/** Further ones share the last colour: more can't be told apart. */
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
      <Section title="By day" aside={<p class="hint">In all {shown(measure, value(total))}</p>}>
        <svg
          class="usage-chart"
          viewBox={`0 0 ${days.length * WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${measure} by day and ${split}; ${shown(measure, value(total))} in all. The table below has the numbers.`}
        >
          {days.map((day, index) => (
            <g key={day}>
              <title>{`${day}: ${shown(measure, sums[index] ?? 0)}`}</title>
              <rect class="hover" x={index * WIDTH} y="0" width={WIDTH} height={HEIGHT} />
              <Stack
                x={index * WIDTH}
                heights={names.map(({ name }) => (value(byDay(day, name)) / top) * (HEIGHT - 4))}
              />
            </g>
          ))}
        </svg>
        <p class="scale">
          <span>{days[0]}</span>
          <span>at most {shown(measure, most)} a day</span>
          <span>{days.at(-1)}</span>
        </p>
        {measure === "cost" && unknown > 0 && (
          <p class="hint">
            {count(unknown, "turn")} of models without a known price are not in the cost.{" "}
            <a href={hrefOf("settings", "prices")}>Set prices</a>
          </p>
        )}
      </Section>
      <Section title={`By ${split}`}>
        <Table label={`Usage by ${split}`} columns={columnsOf(split)} rows={names} keyOf={({ name }) => name} />
      </Section>
    </>
  );
}

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
    label: split.charAt(0).toUpperCase() + split.slice(1),
    cell: ({ name, rank }) => (
      <span class={`usage-part part-${Math.min(rank, COLOURS - 1)}`}>
        <Name>{name === "" ? "Page, command line, procedures" : name}</Name>
      </span>
    ),
  },
  { label: "Turns", cell: ({ totals }) => number(totals.turns), narrow: true },
  { label: "Tokens in", cell: ({ totals }) => number(totals.inputTokens), narrow: true },
  { label: "Tokens out", cell: ({ totals }) => number(totals.outputTokens), narrow: true },
  {
    label: "Cost",
    cell: ({ totals: { turns, costUsd, unknownCostTurns: unknown } }) => {
      if (unknown === 0) return dollars(costUsd);
      return unknown === turns ? "price unknown" : `${dollars(costUsd)}, ${count(unknown, "turn")} unknown`;
    },
    narrow: true,
  },
];
