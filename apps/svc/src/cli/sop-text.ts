/** Procedures and runs as `svc sop` prints them. */
import { minute } from "./moment.ts";

export interface SopLine {
  readonly name: string;
  readonly enabled: boolean;
  readonly description: string;
  readonly version: string;
  readonly priority: string;
  readonly execution_mode: string;
  readonly cooldown_secs: number;
  readonly max_concurrent: number;
  readonly agent: string | null;
  readonly triggers: readonly TriggerLine[];
  readonly steps: readonly StepLine[];
  readonly active_runs: number;
  readonly last_run: RunLine | null;
  readonly problem: string | null;
}

interface TriggerLine {
  readonly type: string;
  readonly path?: string;
  readonly expression?: string;
  readonly timezone?: string | null;
  readonly event?: string;
  readonly topic?: string;
  readonly board?: string;
  readonly signal?: string;
  readonly next_at?: string | null;
  readonly condition: string | null;
}

interface StepLine {
  readonly number: number;
  readonly title: string;
  readonly kind: string;
  readonly tools: readonly string[];
  readonly requires_confirmation: boolean;
}

export interface RunLine {
  readonly id: string;
  readonly n: number;
  readonly sop: string;
  readonly status: string;
  readonly mode: string;
  readonly step: number;
  readonly started_by: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly error: string | null;
  readonly reason: string | null;
  readonly test: boolean;
  readonly retry_of: string | null;
}

export interface Calendar {
  readonly times: readonly {
    readonly sop: string;
    readonly expression: string;
    readonly timezone: string | null;
    readonly at: readonly string[];
    readonly more: boolean;
  }[];
  readonly left: number;
}

export interface RunPage extends RunLine {
  readonly steps: readonly {
    readonly number: number;
    readonly title: string;
    readonly status: string;
    readonly output: unknown;
    readonly approval: { readonly n: number; readonly status: string } | null;
  }[];
}

export const sopRow = (sop: SopLine): string[] => [
  sop.name,
  [sop.execution_mode, ...(sop.enabled ? [] : ["disabled"]), ...(sop.problem === null ? [] : [WRONG])].join(", "),
  [...new Set(sop.triggers.map(({ type }) => type))].join(" "),
  sop.last_run === null ? "never ran" : `last ${statusText(sop.last_run)}, ${minute(sop.last_run.started_at)}`,
];

const WRONG = "the newest version is wrong";

/** Each start on a line, in the order of time. */
export function calendarText({ times, left }: Calendar): string {
  const lines = times
    .flatMap(({ sop, expression, timezone, at, more }) =>
      at.map((moment, index) => {
        const isCut = more && index === at.length - 1;
        return {
          moment,
          line: `${minute(moment)}  ${sop}  ${expression} ${timezone ?? "UTC"}${isCut ? "  and so on" : ""}`,
        };
      }),
    )
    .toSorted((one, other) => one.moment.localeCompare(other.moment))
    .map(({ line }) => line);
  return [...lines, ...(left > 0 ? [`and ${left} more triggers`] : [])].join("\n");
}

export function sopPage(sop: SopLine): string {
  const fact = (name: string, value: string | number): string => `  ${name.padEnd(15)}${value}`;
  return [
    `${sop.name} ${sop.version}`.trim(),
    ...(sop.enabled ? [] : ["disabled: nothing starts it but svc sop test"]),
    ...(sop.description === "" ? [] : [sop.description]),
    ...(sop.problem === null ? [] : [`THE NEWEST VERSION IS WRONG, this is the last good one: ${sop.problem}`]),
    "",
    fact("mode", sop.execution_mode),
    fact("priority", sop.priority),
    fact("cooldown", `${sop.cooldown_secs} s`),
    fact("at once", `${sop.active_runs} of ${sop.max_concurrent}`),
    fact("agent", sop.agent ?? "default"),
    "",
    ...sop.triggers.map((trigger) => `  ${triggerText(trigger)}`),
    "",
    ...sop.steps.map((step) => `  ${stepText(step)}`),
    ...(sop.last_run === null ? [] : ["", `last run: ${runRow(sop.last_run).join("  ")}`]),
  ].join("\n");
}

function triggerText(trigger: TriggerLine): string {
  const { path, event, expression, topic, board, signal } = trigger;
  const what = path ?? event ?? expression ?? topic ?? [board, signal].filter(Boolean).join(" ");
  const zone = trigger.timezone ? ` (${trigger.timezone})` : "";
  const next = trigger.next_at ? `, next ${minute(trigger.next_at)}` : "";
  return `${trigger.type} ${what}${zone}${next}${trigger.condition ? ` when ${trigger.condition}` : ""}`.trimEnd();
}

const stepText = ({ number, title, kind, tools, requires_confirmation: confirms }: StepLine): string =>
  [
    `${number}. ${title}`,
    ...(kind === "checkpoint" ? ["(checkpoint)"] : []),
    ...(confirms ? ["(asks first)"] : []),
    ...(tools.length > 0 ? [`[${tools.join(", ")}]`] : []),
  ].join(" ");

export const runRow = (run: RunLine): string[] => [
  `#${run.n}`,
  run.id,
  run.sop,
  statusText(run),
  minute(run.started_at),
  `${run.test ? "test " : ""}started by ${run.started_by}`,
];

export function runPage(run: RunPage): string {
  const steps = run.steps.map(({ number, title, status, approval }) => {
    const asks = status === "waiting_approval" && approval ? `: svc approvals approve ${approval.n}` : "";
    return `  ${number}. ${title}: ${status.replace("_", " ")}${asks}`;
  });
  const last = run.steps.findLast(({ output }) => output !== null)?.output;
  return [
    `${run.id}: ${run.sop}, ${statusText(run)}${run.test ? ", a test" : ""}`,
    ...(run.retry_of === null ? [] : [`  goes on from ${run.retry_of}`]),
    `  started ${minute(run.started_at)} by ${run.started_by}`,
    ...(run.ended_at === null ? [] : [`  ended ${minute(run.ended_at)}`]),
    ...(run.reason === null ? [] : [`  ${run.reason}`]),
    "",
    ...steps,
    ...(last === undefined ? [] : ["", typeof last === "string" ? last : JSON.stringify(last, null, 2)]),
  ].join("\n");
}

const statusText = ({ status, step, error }: RunLine): string => {
  if (status === "failed") return `failed at step ${step}${error === null ? "" : ` (${error})`}`;
  return status === "waiting_approval" ? `waiting at step ${step}` : status;
};
