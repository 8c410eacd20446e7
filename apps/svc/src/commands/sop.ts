/** `svc sop …`: procedures and their runs. Only what starts a run needs a daemon. */
import type { Sop, SopCalendar, SopRun, SopRunDetail, SopStep, SopTrigger } from "@svc/api";
import type { ControlAnswer, RunEvent } from "@svc/api/control";
import { EXIT, SvcError } from "@svc/contract";
import { minute, printable, stateColumns, tintState } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import type { Call } from "../service/control.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = "", name = ""] = context.args;
  checkOptions(context, action);
  const offline = await offlineOptions(context);
  return await ACTIONS[action]!(context, callHere(offline), name);
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
  const answer = await call({ name: "sops" });
  if (context.options.flag("json")) context.printJson(answer);
  else if (answer.sops.length + answer.broken.length === 0) context.print(NONE);
  else {
    const rows = [
      ...answer.sops.map(sopRow),
      ...answer.broken.map(({ name, problem }) => [name, "broken", "", problem]),
    ];
    context.print(stateColumns(rows, 1, tintState));
  }
  return EXIT.ok;
}

const NONE = "there is no procedure\nWrite one with: svc sop new <name>";

async function show(context: CommandContext, call: Call, name: string): Promise<number> {
  const answer = await call({ name: "sop-show", body: { name } });
  if (context.options.flag("json")) context.printJson(answer.run ?? answer.sop);
  else context.print(printable(answer.run ? runPage(answer.run) : sopPage(answer.sop!)));
  return EXIT.ok;
}

async function validate(context: CommandContext, call: Call, name: string): Promise<number> {
  const body = name === "" ? {} : { name };
  const answer = await call({ name: "sop-validate", body });
  if (context.options.flag("json")) context.printJson(answer);
  else if (answer.procedures.length === 0) context.print(NONE);
  else context.print(printable(answer.procedures.map(judgement).join("\n")));
  return answer.ok ? EXIT.ok : EXIT.data;
}

type Checked = ControlAnswer<"sop-validate">["procedures"][number];

const judgement = ({ name, problems, warnings }: Checked): string =>
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
  const done = await call({
    name: isTest ? "sop-test" : "sop-run",
    body: {
      name,
      wait: options.flag("wait"),
      ...(payload !== undefined && { payload }),
      ...(trigger !== undefined && { trigger: trigger - 1 }),
    },
    onEvent: (event) => {
      const line = json ? undefined : progress(event);
      if (line !== undefined) context.print(printable(line));
    },
  });
  if (json) context.printJson(done);
  else if (options.flag("wait")) context.print(printable(runPage(done)));
  else
    context.print(
      printable(`${isTest ? "the test " : ""}${done.id} has started; follow it with: svc sop show ${done.id}`),
    );
  return done.status === "failed" || done.status === "cancelled" ? EXIT.failure : EXIT.ok;
}

/** That a step waits for a person is answer with its question. */
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
  const answer = await call({ name: "sop-retry", body: { run: id, step } });
  if (context.options.flag("json")) context.printJson(answer);
  else {
    const asks =
      answer.asks.length === 0 ? "" : `\nMay have acted already, so waits for a yes: step ${answer.asks.join(", ")}`;
    context.print(
      printable(`${answer.id} goes on from step ${step}; follow it with: svc sop show ${answer.id}${asks}`),
    );
  }
  return EXIT.ok;
}

/** The one that it ended at. */
async function stepToRetry(call: Call, id: string): Promise<number> {
  const { run } = await call({ name: "sop-show", body: { name: id } });
  if (!run) throw new SvcError("SOP_RUN_UNKNOWN", undefined, { hint: "See: svc sop runs" });
  return run.step;
}

async function calendar(context: CommandContext, call: Call, name: string): Promise<number> {
  const days = numberOf(context, "days", 1, 31) ?? 7;
  const answer = await call({ name: "sop-calendar", body: { days, ...(name !== "" && { name }) } });
  if (context.options.flag("json")) context.printJson(answer);
  else
    context.print(answer.times.length === 0 ? `cron starts nothing in ${days} days` : printable(calendarText(answer)));
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
  const answer = await call({ name: "sop-runs", body });
  if (options.flag("json")) context.printJson(answer);
  else
    context.print(
      answer.runs.length === 0 ? "there is no such run" : stateColumns(answer.runs.map(runRow), 3, tintState),
    );
  return EXIT.ok;
}

async function cancel(context: CommandContext, call: Call, id: string): Promise<number> {
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  const asks = atTerminal() && !context.options.flag("yes");
  if (asks && !(await confirmed(`Cancel ${id}? What its steps have done stays done.`))) throw new SvcError("CANCELLED");
  const done = await call({ name: "sop-cancel", body: { run: id } });
  if (context.options.flag("json")) context.printJson(done);
  else context.print(printable(`${done.id} is cancelled`));
  return EXIT.ok;
}

/** Procedures and runs as `svc sop` prints them. */
const sopRow = (sop: Sop): string[] => [
  sop.name,
  [sop.execution_mode, ...(sop.enabled ? [] : ["disabled"]), ...(sop.problem === null ? [] : [WRONG])].join(", "),
  [...new Set(sop.triggers.map(({ type }) => type))].join(" "),
  sop.last_run === null ? "never ran" : `last ${statusText(sop.last_run)}, ${minute(sop.last_run.started_at)}`,
];

const WRONG = "the newest version is wrong";

/** Each start on a line, in the order of time. */
function calendarText({ times, left }: SopCalendar): string {
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

function sopPage(sop: Sop): string {
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

function triggerText(trigger: SopTrigger): string {
  const { path, event, expression, topic, board, signal } = trigger;
  const what = path ?? event ?? expression ?? topic ?? [board, signal].filter(Boolean).join(" ");
  const zone = trigger.timezone ? ` (${trigger.timezone})` : "";
  const next = trigger.next_at ? `, next ${minute(trigger.next_at)}` : "";
  return `${trigger.type} ${what}${zone}${next}${trigger.condition ? ` when ${trigger.condition}` : ""}`.trimEnd();
}

const stepText = ({ number, title, kind, tools, requires_confirmation: confirms }: SopStep): string =>
  [
    `${number}. ${title}`,
    ...(kind === "checkpoint" ? ["(checkpoint)"] : []),
    ...(confirms ? ["(asks first)"] : []),
    ...(tools.length > 0 ? [`[${tools.join(", ")}]`] : []),
  ].join(" ");

const runRow = (run: SopRun): string[] => [
  `#${run.n}`,
  run.id,
  run.sop,
  statusText(run),
  minute(run.started_at),
  `${run.test ? "test " : ""}started by ${run.started_by}`,
];

function runPage(run: SopRunDetail): string {
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

const statusText = ({ status, step, error }: SopRun): string => {
  if (status === "failed") return `failed at step ${step}${error === null ? "" : ` (${error})`}`;
  return status === "waiting_approval" ? `waiting at step ${step}` : status;
};
