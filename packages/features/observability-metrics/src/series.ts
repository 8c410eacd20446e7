/** Counters and histograms: name, meaning and labels of each series. docs/operations/monitoring.md lists them. */
import { Counter, Histogram } from "prom-client";

/** Upper bounds in seconds. A request may wait for a whole turn. */
const REQUEST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Of models, tools, commands and platforms. */
const STEP = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Of what may wait for people. */
const LONG = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400];

export type Counted = ReturnType<typeof openCounted>;

export function openCounted() {
  const values = new LabelValues();
  const count = <Label extends string>(name: string, help: string, labels: readonly Label[]): Family<Label> =>
    counters({ name, help, labels }, values);
  const time = <Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    buckets: number[],
  ): Family<Label> => durations({ name, help, labels }, buckets, values);

  return {
    requests: count("svc_http_requests_total", "HTTP requests. Status aborted: the client went away first.", [
      "method",
      "route",
      "status",
    ]),
    requestSeconds: time(
      "svc_http_request_duration_seconds",
      "Seconds from a request's arrival to its answer; of a stream, to its beginning.",
      ["method", "route", "status_class"],
      REQUEST,
    ),

    turns: count("svc_turns_total", "Turns of the agents.", ["agent", "outcome"]),
    turnSeconds: time("svc_turn_duration_seconds", "Seconds a turn takes.", ["agent", "outcome"], STEP),
    turnsUnpriced: count("svc_turns_unpriced_total", "Turns whose cost is unknown: their model has no price.", [
      "model",
    ]),

    modelCalls: count("svc_model_calls_total", "Calls of models.", ["provider", "model", "outcome"]),
    modelCallSeconds: time(
      "svc_model_call_duration_seconds",
      "Seconds a call of a model takes.",
      ["provider", "model", "outcome"],
      STEP,
    ),
    tokens: count("svc_model_tokens_total", "Tokens that models were sent and answered with.", ["model", "direction"]),
    cost: count("svc_model_cost_usd_total", "What calls of models cost, in US dollars, where the price is known.", [
      "model",
    ]),

    toolCalls: count("svc_tool_calls_total", "Calls of tools.", ["tool", "outcome"]),
    toolCallSeconds: time(
      "svc_tool_call_duration_seconds",
      "Seconds a call of a tool takes.",
      ["tool", "outcome"],
      STEP,
    ),
    commands: count("svc_commands_total", "Commands run by the sandbox.", ["backend", "outcome"]),
    commandSeconds: time("svc_command_duration_seconds", "Seconds a command runs.", ["backend", "outcome"], STEP),

    received: count("svc_messages_received_total", "Messages of channels that were kept.", ["channel"]),
    inboxSeconds: time(
      "svc_inbox_wait_seconds",
      "Seconds from keeping a message to the beginning of its turn.",
      ["channel"],
      LONG,
    ),
    unanswered: count("svc_messages_unanswered_total", "Messages that could not be answered, given up.", ["channel"]),
    deliveries: count("svc_deliveries_total", "Messages to channels that were delivered, or given up.", [
      "channel",
      "outcome",
    ]),
    attempts: count("svc_delivery_attempts_total", "Tries to deliver a message.", ["channel", "outcome"]),
    attemptSeconds: time(
      "svc_delivery_attempt_duration_seconds",
      "Seconds a try to deliver a message takes.",
      ["channel", "outcome"],
      STEP,
    ),

    approvalsRequested: count("svc_approvals_requested_total", "Approvals that were asked for.", ["origin"]),
    approvalsResolved: count("svc_approvals_resolved_total", "Approvals that were settled.", ["outcome"]),
    sopStarted: count("svc_sop_runs_started_total", "Runs of procedures that began.", ["sop"]),
    sopEnded: count("svc_sop_runs_ended_total", "Runs of procedures that ended.", ["sop", "status"]),
    sopSeconds: time(
      "svc_sop_run_duration_seconds",
      "Seconds a run of a procedure takes, those that it waits for people included.",
      ["sop", "status"],
      LONG,
    ),

    safetyRequests: count("svc_safety_requests_total", "Movements that a robot was asked for.", ["direction"]),
    safetyRefusals: count("svc_safety_refusals_total", "Movements that were refused.", ["reason"]),
    safetyStops: count("svc_safety_stops_total", "Ends of movements, and stops of a robot that stood.", ["reason"]),
    agentsStarted: count("svc_child_agents_started_total", "Child agents that were started.", ["program"]),
    agentsFailed: count("svc_child_agents_failed_total", "Child agents that failed.", ["program"]),
    safetyResets: count("svc_safety_resets_total", "Resets of the emergency stop by a person.", []),

    errors: count("svc_errors_total", "Work that failed, by its kind and by the code of the error.", ["work", "code"]),
  };
}

// All series of one name. prom-client counts; added here are bounds: on the values of labels, on how many combinations of them there are,
// and on how much is written at a time. Its own labels are not used: it looks for them again at each count, which takes four times as long
// as the counting, and writes all of a name in one go (10 000 series: 12 to 47 ms in which nothing else runs). So each combination of
// values is a metric of its own, and its lines are written here.

/** Combinations of label values in one family; what comes beyond is counted with `other` in every label. */
export const MAX_COMBINATIONS = 1000;

/** At most some hundred lines: less than a millisecond. */
const COMBINATIONS_A_SLICE = 32;

interface Description<Label extends string> {
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

class Family<Label extends string> {
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

const counters = <Label extends string>(description: Description<Label>, values: LabelValues): Family<Label> =>
  new Family(description, "counter", values, () => {
    const counter = new Counter({ name: description.name, help: description.help, registers: [] });
    return { take: (amount) => counter.inc(amount), get: () => counter.get() };
  });

/** `buckets`: upper bounds in seconds. */
const durations = <Label extends string>(
  description: Description<Label>,
  buckets: number[],
  values: LabelValues,
): Family<Label> =>
  new Family(description, "histogram", values, () => {
    const { name, help } = description;
    const histogram = new Histogram<"le">({ name, help, buckets, registers: [] });
    return { take: (amount) => histogram.observe(amount), get: () => histogram.get() };
  });

// Values of a label. Memory and output grow with every combination of values ever seen, so each label has a bound. `GET /metrics` is
// public, so a value is a name, never text that a person wrote.

/** Different values of one label, `other` apart. */
export const MAX_VALUES = 200;

/** Replaces values that are not names, and names beyond the bound. */
export const OTHER = "other";

/** Names of routes, models, tools, channels, agents and procedures; no space, quote or line break. */
const NAME = /^[\w./:@+{}*-]{1,100}$/;

export class LabelValues {
  readonly #known = new Map<string, Set<string>>();

  /** The value, or `other`. One that was taken once is always taken. */
  of(label: string, value: string): string {
    let known = this.#known.get(label);
    if (known === undefined) this.#known.set(label, (known = new Set()));
    if (known.has(value)) return value;
    if (known.size >= MAX_VALUES || !NAME.test(value)) return OTHER;
    known.add(value);
    return value;
  }
}
