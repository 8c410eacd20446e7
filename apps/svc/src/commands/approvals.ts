/** `svc approvals list|approve|reject`: what waits for a person's yes. Works without a daemon too. */
import type { Approval } from "@svc/api";
import { EXIT, SvcError } from "@svc/contract";
import { columns, minute, printable } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = ""] = context.args;
  if (action !== "approve" && context.options.text("for") !== undefined) {
    throw new SvcError("USAGE", "--for belongs to svc approvals approve.");
  }
  if (action === "rules") return await rules(context);
  if (action === "revoke") return await revoke(context);
  return action === "list" ? await list(context) : await answer(context, action === "approve");
}

/** Calls that run without asking, because a person said always to them. */
async function rules(context: CommandContext): Promise<number> {
  const { rules: listed } = await callHere(await offlineOptions(context))({ name: "approval-rules" });
  if (context.options.flag("json")) context.printJson({ rules: listed });
  else if (listed.length === 0) context.print("no call is always allowed");
  else context.print(printable(columns(listed.map(({ id, agent, pattern }) => [id, agent, pattern]))));
  return EXIT.ok;
}

async function revoke(context: CommandContext): Promise<number> {
  const [, id = ""] = context.args;
  const done = await callHere(await offlineOptions(context))({ name: "approval-rule-revoke", body: { id } });
  if (context.options.flag("json")) context.printJson(done);
  else context.print("revoked: such calls ask again");
  return EXIT.ok;
}

async function list(context: CommandContext): Promise<number> {
  const { options } = context;
  // What it does not look at would be believed to have been obeyed.
  if (options.text("feedback") !== undefined) throw new SvcError("USAGE", "--feedback belongs to an answer.");
  const [status, limit] = [options.text("status"), options.text("limit")];
  const body = { ...(status !== undefined && { status }), ...(limit !== undefined && { limit }) };
  const { approvals } = await callHere(await offlineOptions(context))({ name: "approvals", body });
  if (options.flag("json")) context.printJson({ approvals });
  else if (approvals.length === 0) context.print(status ? "there is no such request" : "nothing waits for an answer");
  else context.print(printable([...approvals.map(entry), ...hintFor(approvals)].join("\n")));
  return EXIT.ok;
}

function hintFor(approvals: readonly Approval[]): string[] {
  const waiting = approvals.find(({ status }) => status === "waiting");
  return waiting ? [`Answer one: svc approvals approve ${waiting.n}`] : [];
}

async function answer(context: CommandContext, approved: boolean): Promise<number> {
  const [, run = "", step] = context.args;
  const { options } = context;
  if (options.text("status") !== undefined || options.text("limit") !== undefined) {
    throw new SvcError("USAGE", "--status and --limit belong to svc approvals list.");
  }
  const feedback = options.text("feedback");
  const holds = options.text("for");
  const body = {
    run,
    approved,
    ...(step !== undefined && { step }),
    ...(feedback !== undefined && { feedback }),
    ...(holds !== undefined && { holds }),
  };
  const done = await callHere(await offlineOptions(context))({ name: "approval-answer", body });
  if (options.flag("json")) context.printJson(done);
  else context.print(printable(`#${done.n} is ${done.status}: ${done.title}`));
  return EXIT.ok;
}

function entry(approval: Approval): string {
  const { n, title, status, run_id: runId, step_id: stepId, asked_by: askedBy, answer: given } = approval;
  const end = given === null ? `until ${minute(approval.expires_at)}` : `by ${given.by}, ${minute(given.at)}`;
  const head = columns([[`#${n}`, status, title]]);
  const lines = [`run ${runId}, step ${stepId}`, `asked by ${askedBy}; ${end}`, ...approval.message.split("\n")];
  if (given?.feedback) lines.push(`feedback: ${given.feedback}`);
  return [head, ...lines.filter((line) => line.trim() !== "").map((line) => `    ${line}`)].join("\n");
}
