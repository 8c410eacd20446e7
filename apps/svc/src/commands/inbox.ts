/** `svc inbox list|show|replay|drop`: what came in, what goes out, and what got stuck. Works without a daemon too. */
import type { InboxMessage, InboxMessageDetail } from "@svc/api";
import { EXIT, SvcError } from "@svc/contract";
import { columns, printable, second } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import type { Call } from "../service/control.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = "", id = ""] = context.args;
  const offline = await offlineOptions(context);
  return await ACTIONS[action]!(context, callHere(offline), id);
}

type Action = (context: CommandContext, call: Call, id: string) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { list, show, replay, drop };

async function list(context: CommandContext, call: Call): Promise<number> {
  const [box, channel, state, limit] = ["box", "channel", "state", "limit"].map((name) => context.options.text(name));
  const body = {
    ...(box !== undefined && { box }),
    ...(channel !== undefined && { channel }),
    ...(state !== undefined && { state }),
    ...(limit !== undefined && { limit }),
  };
  const { messages } = await call({ name: "inbox", body });
  if (context.options.flag("json")) context.printJson({ messages });
  else context.print(messages.length === 0 ? "there is no such message" : printable(columns(messages.map(row))));
  return EXIT.ok;
}

async function show(context: CommandContext, call: Call, id: string): Promise<number> {
  const message = await call({ name: "inbox-show", body: { id } });
  if (context.options.flag("json")) context.printJson(message);
  else context.print(printable(page(message)));
  return EXIT.ok;
}

async function replay(context: CommandContext, call: Call, id: string): Promise<number> {
  const { options } = context;
  const isAll = options.text("state") !== undefined;
  // What it does not look at would be believed to have been obeyed.
  if (options.text("limit") !== undefined || options.text("box") !== undefined) throw usage(LISTS_ONLY);
  if (isAll === (id !== "") || (!isAll && options.text("channel") !== undefined)) throw usage(ONE_OR_ALL);
  return isAll ? await replayAll(context, call) : await replayOne(context, call, id);
}

const usage = (message: string): SvcError => new SvcError("USAGE", message, { hint: "See: svc inbox --help" });
const LISTS_ONLY = "--limit and --box belong to svc inbox list.";
const ONE_OR_ALL = "svc inbox replay takes one <id>, or --state failed or dead, if need be with --channel.";

async function replayAll(context: CommandContext, call: Call): Promise<number> {
  const state = context.options.text("state")!;
  const channel = context.options.text("channel");
  const body = { state, ...(channel !== undefined && { channel }) };
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  if (atTerminal() && !context.options.flag("yes")) {
    const { count } = await call({ name: "inbox-ended", body });
    const what = state === "failed" ? "Each is answered anew." : "Each is sent again.";
    if (count > 0 && !(await confirmed(`Take up ${many(count)} again? ${what}`))) throw new SvcError("CANCELLED");
  }
  const done = await call({ name: "inbox-replay-all", body });
  if (context.options.flag("json")) context.printJson(done);
  else if (done.replayed === 0) context.print("there is no such message");
  else context.print(`${many(done.replayed)} taken up again`);
  return EXIT.ok;
}

async function replayOne(context: CommandContext, call: Call, id: string): Promise<number> {
  const message = await call({ name: "inbox-replay", body: { id } });
  if (context.options.flag("json")) context.printJson(message);
  else context.print(`${message.id} is taken up again`);
  return EXIT.ok;
}

async function drop(context: CommandContext, call: Call, id: string): Promise<number> {
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  const asks = atTerminal() && !context.options.flag("yes");
  if (asks && !(await confirmed(`Drop ${id}? Nobody will be answered.`))) throw new SvcError("CANCELLED");
  const message = await call({ name: "inbox-drop", body: { id } });
  if (context.options.flag("json")) context.printJson(message);
  else context.print(`${message.id} is dropped; take it up again with: svc inbox replay ${message.id}`);
  return EXIT.ok;
}

const row = (message: InboxMessage): string[] => [
  message.id,
  second(message.at),
  message.channel,
  message.sender ?? (message.conversation ? `to ${message.conversation.id}` : "-"),
  message.error === null ? stateOf(message) : `${message.state} (${message.error}, ${times(message.attempts)})`,
  message.text.replaceAll(/\s+/g, " "),
];

const stateOf = ({ state, waits_for: what }: InboxMessage): string => (what === null ? state : `${state} for ${what}`);

function page(message: InboxMessageDetail): string {
  const { conversation } = message;
  const fact = (name: string, value: string | null | undefined): string[] =>
    value === null || value === undefined ? [] : [`  ${name.padEnd(13)}${value}`];
  return [
    `${message.id}: ${message.kind} of ${message.channel}, ${stateOf(message)}`,
    ...fact("from", message.sender),
    ...fact(
      "conversation",
      conversation && `${conversation.id}${conversation.thread ? ` / ${conversation.thread}` : ""}`,
    ),
    ...fact("since", second(message.at)),
    ...fact("ended", message.ended_at && second(message.ended_at)),
    ...fact(
      "attempts",
      message.attempts > 0 ? `${message.attempts}${message.error ? `, the last: ${message.error}` : ""}` : null,
    ),
    ...fact("platform id", message.platform_id),
    ...fact("platform says", message.platform_status),
    ...message.files.flatMap(({ kind, name }) => fact("file", `${name} (${kind})`)),
    ...(message.notice === null ? [] : fact("notice", JSON.stringify(message.notice))),
    ...(message.text === "" ? [] : ["", message.text]),
    ...message.deliveries.flatMap((delivery) => ["", `${delivery.id}: answer, ${delivery.state}`, delivery.text]),
  ].join("\n");
}

const many = (count: number): string => `${count} ${count === 1 ? "message" : "messages"}`;
const times = (attempts: number): string => `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
