/**
 * All series of one name. prom-client counts; added here are bounds: on the values of labels, on how many combinations of them
 * there are, and on how much is written at a time. Its own labels are not used: it looks for them again at each count, which
 * takes four times as long as the counting, and writes all of a name in one go (10 000 series: 12 to 47 ms in which nothing
 * else runs). So each combination of values is a metric of its own, and its lines are written here.
 */
import { Counter, Histogram } from "prom-client";
import { type LabelValues, OTHER } from "./label-values.ts";

/** Combinations of label values in one family; what comes beyond is counted with `other` in every label. */
export const MAX_COMBINATIONS = 1000;

/** At most some hundred lines: less than a millisecond. */
const COMBINATIONS_A_SLICE = 32;

export interface Description<Label extends string> {
  /** In base units; `_total` at the end of a counter's. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** prom-client's, without labels. */
interface Metric {
  take(amount: number): void;
  get(): Promise<{ readonly values: readonly Value[] }>;
}

/** `metricName`: where it is not the family's, of the parts of a histogram. */
interface Value {
  readonly metricName?: string;
  readonly labels: { readonly le?: string | number };
  readonly value: number;
}

interface Combination {
  readonly metric: Metric;
  /** As it is written. */
  readonly labels: string;
}

export class Family<Label extends string> {
  readonly #description: Description<Label>;
  readonly #type: "counter" | "histogram";
  readonly #values: LabelValues;
  readonly #open: () => Metric;
  /** By the values in the order of the labels, a space after each. */
  readonly #combinations = new Map<string, Combination>();

  /** `open` makes the metric of one combination. */
  constructor(description: Description<Label>, type: "counter" | "histogram", values: LabelValues, open: () => Metric) {
    this.#description = description;
    this.#type = type;
    this.#values = values;
    this.#open = open;
  }

  /** Counts an amount, or observes it. One that is negative or no number is left out. */
  record(labels: { readonly [Name in Label]: string }, amount: number): void {
    if (!(amount >= 0 && amount < Infinity)) return;
    // A value with a space in it makes a key that no combination has.
    let key = "";
    for (const label of this.#description.labels) key += `${labels[label]} `;
    (this.#combinations.get(key) ?? this.#admit(labels)).metric.take(amount);
  }

  /** What is written of it, each in less than a millisecond: between two of them other work may run. */
  slices(): (() => Promise<string>)[] {
    const { name, help } = this.#description;
    const all = [...this.#combinations.values()];
    const slices = Array.from({ length: Math.ceil(all.length / COMBINATIONS_A_SLICE) }, (_, index) => async () => {
      const some = all.slice(index * COMBINATIONS_A_SLICE, (index + 1) * COMBINATIONS_A_SLICE);
      return (await Promise.all(some.map((one) => linesOf(name, one)))).join("");
    });
    return [async () => `# HELP ${name} ${help}\n# TYPE ${name} ${this.#type}\n`, ...slices];
  }

  #admit(labels: { readonly [Name in Label]: string }): Combination {
    const values = this.#description.labels.map((label) => this.#values.of(label, labels[label]));
    const known = this.#combinations.get(keyOf(values));
    if (known) return known;
    if (this.#combinations.size < MAX_COMBINATIONS) return this.#add(values);
    const others = values.map(() => OTHER);
    return this.#combinations.get(keyOf(others)) ?? this.#add(others);
  }

  #add(values: readonly string[]): Combination {
    const labels = this.#description.labels.map((label, index) => `${label}="${values[index]}"`).join(",");
    const combination = { metric: this.#open(), labels };
    this.#combinations.set(keyOf(values), combination);
    return combination;
  }
}

const keyOf = (values: readonly string[]): string => values.map((value) => `${value} `).join("");

/** What prom-client tells of it is of one moment: the buckets of a histogram fit its count. */
async function linesOf(name: string, { metric, labels }: Combination): Promise<string> {
  let text = "";
  for (const { metricName = name, labels: own, value } of (await metric.get()).values) {
    text += own.le === undefined ? `${metricName}{${labels}}` : `${metricName}{le="${own.le}",${labels}}`;
    text += ` ${value}\n`;
  }
  return text;
}

export const counters = <Label extends string>(description: Description<Label>, values: LabelValues): Family<Label> =>
  new Family(description, "counter", values, () => {
    const counter = new Counter({ name: description.name, help: description.help, registers: [] });
    return { take: (amount) => counter.inc(amount), get: () => counter.get() };
  });

/** `buckets`: upper bounds in seconds. */
export const durations = <Label extends string>(
  description: Description<Label>,
  buckets: number[],
  values: LabelValues,
): Family<Label> =>
  new Family(description, "histogram", values, () => {
    const { name, help } = description;
    const histogram = new Histogram<"le">({ name, help, buckets, registers: [] });
    return { take: (amount) => histogram.observe(amount), get: () => histogram.get() };
  });
