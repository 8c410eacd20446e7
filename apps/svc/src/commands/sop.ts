/** `svc sop list|show|validate|run|runs|cancel`: procedures and their runs. Only `run` needs a daemon. */
import { EXIT, SvcError } from "@svc/contract";
import { columns } from "../cli/columns.ts";
import type { CommandContext } from "../cli/command.ts";
import { printable } from "../cli/question.ts";
import { type RunLine, runPage, type RunPage, runRow, type SopLine, sopPage, sopRow } from "../cli/sop-text.ts";
import type { Call } from "../service/backend.ts";
import { callHere } from "../service/handlers/call-here.ts";
import { placeOf } from "../service/handlers/place.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = "", name = ""] = context.args;
  checkOptions(context, action);
  const place = await placeOf(context);
  return await ACTIONS[action]!(context, (call) => callHere(place, call), name);
}

type Action = (context: CommandContext, call: Call, name: string) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { list, show, validate, run: start, runs, cancel };

/** What an action does not look at would be believed to have been obeyed. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  runs: ["status", "limit"],
  run: ["payload", "wait"],
  cancel: ["yes"],
};

function checkOptions({ options }: CommandContext, action: string): void {
  for (const name of ["payload", "status", "limit"]) {
    if (options.text(name) !== undefined && !OPTIONS[action]?.includes(name)) throw notHere(name, action);
  }
  if (options.flag("wait") && action !== "run") throw notHere("wait", action);
}

const notHere = (option: string, action: string): SvcError =>
  new SvcError("USAGE", `svc sop ${action} does not take --${option}.`, { hint: "See: svc sop --help" });

async function list(context: CommandContext, call: Call): Promise<number> {
  const told = (await call({ name: "sops" })) as unknown as { sops: SopLine[]; broken: Broken[] };
  if (context.options.flag("json")) context.printJson(told);
  else if (told.sops.length + told.broken.length === 0) context.print(NONE);
  else {
    const rows = [...told.sops.map(sopRow), ...told.broken.map(({ name, problem }) => [name, "broken", "", problem])];
    context.print(printable(columns(rows)));
  }
  return EXIT.ok;
}

interface Broken {
  readonly name: string;
  readonly problem: string;
}

const NONE = "there is no procedure\nOne is a folder sops/<name> in the workspace with SOP.toml and SOP.md.";

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
  const payload = options.text("payload");
  if (payload !== undefined && !isJson(payload)) throw new SvcError("USAGE", "--payload takes JSON.");
  const json = options.flag("json");
  const done = (await call({
    name: "sop-run",
    body: { name, wait: options.flag("wait"), ...(payload !== undefined && { payload }) },
    onEvent: (event) => {
      const line = json ? undefined : progress(event as unknown as RunEvent);
      if (line !== undefined) context.print(printable(line));
    },
  })) as unknown as RunPage;
  if (json) context.printJson(done);
  else if (options.flag("wait")) context.print(printable(runPage(done)));
  else context.print(printable(`${done.id} has started; follow it with: svc sop show ${done.id}`));
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

async function runs(context: CommandContext, call: Call, name: string): Promise<number> {
  const { options } = context;
  const status = options.text("status");
  const limit = options.text("limit");
  const body = {
    ...(name !== "" && { name }),
    ...(status !== undefined && { status }),
    ...(limit !== undefined && { limit }),
  };
  const told = (await call({ name: "sop-runs", body })) as unknown as { runs: RunLine[] };
  if (options.flag("json")) context.printJson(told);
  else context.print(told.runs.length === 0 ? "there is no such run" : printable(columns(told.runs.map(runRow))));
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
