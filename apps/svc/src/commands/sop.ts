/** `svc sop …`: procedures and their runs. Only what starts a run needs a daemon. */
import { EXIT, SvcError } from "@svc/contract";
import { minute, printable, stateColumns, tintState } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import type { Call } from "../service/backend.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = "", name = ""] = context.args;
  checkOptions(context, action);
  const offline = await offlineOptions(context);
  return await ACTIONS[action]!(context, (call) => callHere(offline, call), name);
}

type Action = (context: CommandContext, call: Call, name: string) => Promise<number>;

const writing =
  (name: "create" | "edit" | "duplicate" | "rename" | "remove" | "enable" | "disable" | "versions" | "undo"): Action =>
  async (...asked) =>
    (await import("./sop-writing.ts"))[name](...asked);

const ACTIONS: Readonly<Record<string, Action>> = {
  list,
  show,
  validate,
  new: writing("create"),
  edit: writing("edit"),
  duplicate: writing("duplicate"),
  rename: writing("rename"),
  delete: writing("remove"),
  versions: writing("versions"),
  undo: writing("undo"),
  enable: writing("enable"),
  disable: writing("disable"),
  run: start,
  test: start,
  runs,
  retry,
  cancel,
  calendar,
};

/** What an action does not look at would be believed to have been obeyed. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  new: ["toml", "markdown"],
  edit: ["toml", "markdown"],
  runs: ["status", "limit", "source", "tests"],
  run: ["payload", "wait"],
  test: ["payload", "wait", "trigger"],
  retry: ["step"],
  calendar: ["days"],
  cancel: ["yes"],
};

function checkOptions({ options }: CommandContext, action: string): void {
  for (const name of new Set(Object.values(OPTIONS).flat())) {
    const isGiven = options.text(name) !== undefined || options.flag(name);
    if (isGiven && name !== "yes" && !OPTIONS[action]?.includes(name)) throw notHere(name, action);
  }
}

const notHere = (option: string, action: string): SvcError =>
  new SvcError("USAGE", `svc sop ${action} does not take --${option}.`, { hint: "See: svc sop --help" });

async function list(context: CommandContext, call: Call): Promise<number> {
  const told = (await call({ name: "sops" })) as unknown as { sops: SopLine[]; broken: Broken[] };
  if (context.options.flag("json")) context.printJson(told);
  else if (told.sops.length + told.broken.length === 0) context.print(NONE);
  else {
    const rows = [...told.sops.map(sopRow), ...told.broken.map(({ name, problem }) => [name, "broken", "", problem])];
    context.print(stateColumns(rows, 1, tintState));
  }
  return EXIT.ok;
}

interface Broken {
  readonly name: string;
  readonly problem: string;
}

const NONE = "there is no procedure\nWrite one with: svc sop new <name>";

async function show(context: CommandContext, call: Call, name: string): Promise<number> {
  const told = (await call({ name: "sop-show", body: { name } })) as unknown as { sop?: SopLine; run?: RunPage };
  if (context.options.flag("json")) context.printJson(told.run ?? told.sop);
  else context.print(printable(told.run ? runPage(told.run) : sopPage(told.sop!)));
  return EXIT.ok;
}

async function validate(context: CommandContext, call: Call, name: string): Promise<number> {
  const body = name === "" ? {} : { name };
  const told = (await call({ name: "sop-validate", body })) as unknown as { ok: boolean; procedures: Judged[] };
  if (context.options.flag("json")) context.printJson(told);
  else if (told.procedures.length === 0) context.print(NONE);
  else context.print(printable(told.procedures.map(judgement).join("\n")));
  return told.ok ? EXIT.ok : EXIT.data;
}

interface Judged {
  readonly name: string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const judgement = ({ name, problems, warnings }: Judged): string =>
  [
    `${name}: ${problems.length === 0 ? "no problems" : `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`}`,
    ...problems.map((problem) => `  ${problem}`),
    ...warnings.map((warning) => `  warning: ${warning}`),
  ].join("\n");

async function start(context: CommandContext, call: Call, name: string): Promise<number> {
  const { options } = context;
  const isTest = context.args[0] === "test";
  const payload = options.text("payload");
  const trigger = numberOf(context, "trigger", 1, 100);
  if (payload !== undefined && !isJson(payload)) throw new SvcError("USAGE", "--payload takes JSON.");
  const json = options.flag("json");
  const done = (await call({
    name: isTest ? "sop-test" : "sop-run",
    body: {
      name,
      wait: options.flag("wait"),
      ...(payload !== undefined && { payload }),
      ...(trigger !== undefined && { trigger: trigger - 1 }),
    },
    onEvent: (event) => {
      const line = json ? undefined : progress(event as unknown as RunEvent);
      if (line !== undefined) context.print(printable(line));
    },
  })) as unknown as RunPage;
  if (json) context.printJson(done);
  else if (options.flag("wait")) context.print(printable(runPage(done)));
  else
    context.print(
      printable(`${isTest ? "the test " : ""}${done.id} has started; follow it with: svc sop show ${done.id}`),
    );
  return done.status === "failed" || done.status === "cancelled" ? EXIT.failure : EXIT.ok;
}

type RunEvent =
  | { readonly type: "step"; readonly run: string; readonly step: number; readonly status: string }
  | { readonly type: "question"; readonly run: string; readonly title: string; readonly approval: number | null };

/** That a step waits for a person is told with its question. */
function progress(event: RunEvent): string | undefined {
  if (event.type === "question") return `${event.run}  ${event.title}  svc approvals approve ${event.approval}`;
  return event.status === "waiting_approval" ? undefined : `${event.run}  step ${event.step}  ${event.status}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Throws USAGE for what is no number of the range. */
function numberOf({ options }: CommandContext, name: string, least: number, most: number): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw new SvcError("USAGE", `--${name} takes a whole number from ${least} to ${most}.`);
}

async function retry(context: CommandContext, call: Call, id: string): Promise<number> {
  const step = numberOf(context, "step", 1, 200) ?? (await stepToRetry(call, id));
  const told = (await call({ name: "sop-retry", body: { run: id, step } })) as unknown as RunLine & { asks: number[] };
  if (context.options.flag("json")) context.printJson(told);
  else {
    const asks =
      told.asks.length === 0 ? "" : `\nMay have acted already, so waits for a yes: step ${told.asks.join(", ")}`;
    context.print(printable(`${told.id} goes on from step ${step}; follow it with: svc sop show ${told.id}${asks}`));
  }
  return EXIT.ok;
}

/** The one that it ended at. */
async function stepToRetry(call: Call, id: string): Promise<number> {
  const { run } = (await call({ name: "sop-show", body: { name: id } })) as unknown as { run?: RunPage };
  if (!run) throw new SvcError("SOP_RUN_UNKNOWN", undefined, { hint: "See: svc sop runs" });
  return run.step;
}

async function calendar(context: CommandContext, call: Call, name: string): Promise<number> {
  const days = numberOf(context, "days", 1, 31) ?? 7;
  const told = (await call({
    name: "sop-calendar",
    body: { days, ...(name !== "" && { name }) },
  })) as unknown as Calendar;
  if (context.options.flag("json")) context.printJson(told);
  else context.print(told.times.length === 0 ? `cron starts nothing in ${days} days` : printable(calendarText(told)));
  return EXIT.ok;
}

async function runs(context: CommandContext, call: Call, name: string): Promise<number> {
  const { options } = context;
  const status = options.text("status");
  const limit = options.text("limit");
  const body = {
    ...(name !== "" && { name }),
    ...(status !== undefined && { status }),
    ...(limit !== undefined && { limit }),
    ...(options.text("source") !== undefined && { source: options.text("source")! }),
    ...(options.flag("tests") && { test: true }),
  };
  const told = (await call({ name: "sop-runs", body })) as unknown as { runs: RunLine[] };
  if (options.flag("json")) context.printJson(told);
  else
    context.print(told.runs.length === 0 ? "there is no such run" : stateColumns(told.runs.map(runRow), 3, tintState));
  return EXIT.ok;
}

async function cancel(context: CommandContext, call: Call, id: string): Promise<number> {
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  const asks = atTerminal() && !context.options.flag("yes");
  if (asks && !(await confirmed(`Cancel ${id}? What its steps have done stays done.`))) throw new SvcError("CANCELLED");
  const done = (await call({ name: "sop-cancel", body: { run: id } })) as unknown as RunLine;
  if (context.options.flag("json")) context.printJson(done);
  else context.print(printable(`${done.id} is cancelled`));
  return EXIT.ok;
}

/** Procedures and runs as `svc sop` prints them. */
interface SopLine {
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

interface RunLine {
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

interface Calendar {
  readonly times: readonly {
    readonly sop: string;
    readonly expression: string;
    readonly timezone: string | null;
    readonly at: readonly string[];
    readonly more: boolean;
  }[];
  readonly left: number;
}

interface RunPage extends RunLine {
  readonly steps: readonly {
    readonly number: number;
    readonly title: string;
    readonly status: string;
    readonly output: unknown;
    readonly approval: { readonly n: number; readonly status: string } | null;
  }[];
}

const sopRow = (sop: SopLine): string[] => [
  sop.name,
  [sop.execution_mode, ...(sop.enabled ? [] : ["disabled"]), ...(sop.problem === null ? [] : [WRONG])].join(", "),
  [...new Set(sop.triggers.map(({ type }) => type))].join(" "),
  sop.last_run === null ? "never ran" : `last ${statusText(sop.last_run)}, ${minute(sop.last_run.started_at)}`,
];

const WRONG = "the newest version is wrong";

/** Each start on a line, in the order of time. */
function calendarText({ times, left }: Calendar): string {
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

function sopPage(sop: SopLine): string {
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

const runRow = (run: RunLine): string[] => [
  `#${run.n}`,
  run.id,
  run.sop,
  statusText(run),
  minute(run.started_at),
  `${run.test ? "test " : ""}started by ${run.started_by}`,
];

function runPage(run: RunPage): string {
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
