/**
 * Reads the text exposition format, version 0.0.4, and throws at whatever a scraper or its linter would stumble over:
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format. Other comments are skipped.
 */
export interface ExposedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ExposedSample[];
}

export interface ExposedSample {
  /** The family's, or with `_bucket`, `_sum` or `_count` at its end. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type Open = ExposedFamily & { readonly samples: ExposedSample[]; readonly seen: Set<string> };

export function parseExposition(text: string): ExposedFamily[] {
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Open>();
  let current: Open | undefined;
  for (const [index, line] of text.split("\n").slice(0, -1).entries()) {
    const bad = (what: string): Error => new Error(`line ${index + 1}: ${what}: ${line.slice(0, 200)}`);
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      if (families.has(name)) throw bad("a family that was there before");
      if (!NAME.test(name)) throw bad("no name");
      if (rest.trim() === "" || /\\(?![\\n])/.test(rest)) throw bad("no help");
      current = { name, type: "", help: rest, samples: [], seen: new Set() };
      families.set(name, current);
    } else if (keyword === "TYPE") {
      if (current?.name !== name || current.type !== "") throw bad("a type without the help of its family before it");
      if (!/^(?:counter|gauge|histogram|summary|untyped)$/.test(rest)) throw bad("no type");
      if ((rest === "counter") !== name.endsWith("_total")) throw bad("_total is for counters, and for all of them");
      families.set(name, (current = { ...current, type: rest }));
    } else if (line !== "" && !line.startsWith("#")) {
      const sample = sampleOf(line);
      if (typeof sample === "string") throw bad(sample);
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`;
      if (current === undefined || !isOf(current, sample)) throw bad("a sample apart from its family");
      if (current.seen.has(key)) throw bad("a series that was there before");
      if (current.type === "counter" && !(sample.value >= 0)) throw bad("a counter below 0");
      current.seen.add(key);
      current.samples.push(sample);
    }
  }
  for (const family of families.values()) if (family.type === "histogram") checkHistogram(family);
  return [...families.values()].map(({ name, type, help, samples }) => ({ name, type, help, samples }));
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"\s*(?:,|$)/y;
const NUMBER = /^(?:[+-]?Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i;

function sampleOf(line: string): ExposedSample | string {
  const [, name = "", inner = "", number = ""] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/.exec(line) ?? [];
  if (name === "") return "no sample";
  if (!NUMBER.test(number)) return "no number";
  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  for (let at = 0; at < inner.length; at = LABEL.lastIndex) {
    LABEL.lastIndex = at;
    const [, label, value = ""] = LABEL.exec(inner) ?? [];
    if (label === undefined) return "no label";
    if (label in labels) return "a label twice";
    labels[label] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  return { name, labels, value: numberOf(number) };
}

const numberOf = (text: string): number =>
  /inf$/i.test(text) ? (text.startsWith("-") ? -Infinity : Infinity) : Number(text);

const PARTS: Readonly<Record<string, readonly string[]>> = {
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

const isOf = ({ name, type }: Open, sample: ExposedSample): boolean =>
  type !== "" && (PARTS[type] ?? [""]).some((part) => sample.name === `${name}${part}`);

/** Each set of labels has buckets that only grow, the last of them of everything, which is its count; and a sum. */
function checkHistogram({ name, samples }: ExposedFamily): void {
  const sets = Map.groupBy(samples, ({ labels }) =>
    JSON.stringify(
      Object.entries(labels)
        .filter(([label]) => label !== "le")
        .toSorted(),
    ),
  );
  for (const [labels, set] of sets) {
    const bad = (what: string): Error => new Error(`${name} ${labels}: ${what}`);
    const buckets = set.filter((sample) => sample.name === `${name}_bucket`);
    const count = set.find((sample) => sample.name === `${name}_count`)?.value;
    if (!set.some((sample) => sample.name === `${name}_sum`)) throw bad("no sum");
    let [bound, below] = [-Infinity, 0];
    for (const {
      labels: { le = "" },
      value,
    } of buckets) {
      if (!(numberOf(le) > bound) || value < below) throw bad("buckets that do not grow");
      [bound, below] = [numberOf(le), value];
    }
    if (bound !== Infinity || below !== count) throw bad("the last bucket is not its count");
  }
}
