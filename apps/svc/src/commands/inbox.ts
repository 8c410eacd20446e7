/** `svc inbox list|show|replay|drop`: what came in, what goes out, and what got stuck. Works without a daemon too. */
import { EXIT, type Json, SvcError } from "@svc/contract";
import { columns, printable, second } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import type { Call } from "../service/backend.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = "", id = ""] = context.args;
  const offline = await offlineOptions(context);
  return await ACTIONS[action]!(context, (call) => callHere(offline, call), id);
}

type Action = (context: CommandContext, call: Call, id: string) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { list, show, replay, drop };

interface MailLine {
  readonly id: string;
  readonly state: string;
  readonly waits_for: string | null;
  readonly channel: string;
  readonly conversation: { readonly id: string; readonly thread: string | null } | null;
  readonly sender: string | null;
  readonly text: string;
  readonly attempts: number;
  readonly at: string;
  readonly ended_at: string | null;
  readonly error: string | null;
}

interface MailPage extends MailLine {
  readonly kind: string;
  readonly files: readonly { readonly kind: string; readonly name: string }[];
  readonly deliveries: readonly MailLine[];
  readonly platform_id: string | null;
  readonly platform_status: string | null;
  readonly notice: Json;
}

async function list(context: CommandContext, call: Call): Promise<number> {
  const filter = Object.fromEntries(
    ["box", "channel", "state", "limit"].flatMap((name): [string, string][] => {
      const value = context.options.text(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const { messages } = (await call({ name: "inbox", body: filter })) as unknown as { messages: MailLine[] };
  if (context.options.flag("json")) context.printJson({ messages });
  else context.print(messages.length === 0 ? "there is no such message" : printable(columns(messages.map(row))));
  return EXIT.ok;
}

async function show(context: CommandContext, call: Call, id: string): Promise<number> {
  const mail = (await call({ name: "inbox-show", body: { id } })) as unknown as MailPage;
  if (context.options.flag("json")) context.printJson(mail);
  else context.print(printable(page(mail)));
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
    const { count } = (await call({ name: "inbox-ended", body })) as { count: number };
    const what = state === "failed" ? "Each is answered anew." : "Each is sent again.";
    if (count > 0 && !(await confirmed(`Take up ${many(count)} again? ${what}`))) throw new SvcError("CANCELLED");
  }
  const done = (await call({ name: "inbox-replay-all", body })) as { replayed: number; messages: string[] };
  if (context.options.flag("json")) context.printJson(done);
  else if (done.replayed === 0) context.print("there is no such message");
  else context.print(`${many(done.replayed)} taken up again`);
  return EXIT.ok;
}

async function replayOne(context: CommandContext, call: Call, id: string): Promise<number> {
  const mail = (await call({ name: "inbox-replay", body: { id } })) as unknown as MailLine;
  if (context.options.flag("json")) context.printJson(mail);
  else context.print(`${mail.id} is taken up again`);
  return EXIT.ok;
}

async function drop(context: CommandContext, call: Call, id: string): Promise<number> {
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  const asks = atTerminal() && !context.options.flag("yes");
  if (asks && !(await confirmed(`Drop ${id}? Nobody will be answered.`))) throw new SvcError("CANCELLED");
  const mail = (await call({ name: "inbox-drop", body: { id } })) as unknown as MailLine;
  if (context.options.flag("json")) context.printJson(mail);
  else context.print(`${mail.id} is dropped; take it up again with: svc inbox replay ${mail.id}`);
  return EXIT.ok;
}

const row = (mail: MailLine): string[] => [
  mail.id,
  second(mail.at),
  mail.channel,
  mail.sender ?? (mail.conversation ? `to ${mail.conversation.id}` : "-"),
  mail.error === null ? stateOf(mail) : `${mail.state} (${mail.error}, ${times(mail.attempts)})`,
  mail.text.replaceAll(/\s+/g, " "),
];

const stateOf = ({ state, waits_for: what }: MailLine): string => (what === null ? state : `${state} for ${what}`);

function page(mail: MailPage): string {
  const { conversation } = mail;
  const fact = (name: string, value: string | null | undefined): string[] =>
    value === null || value === undefined ? [] : [`  ${name.padEnd(13)}${value}`];
  return [
    `${mail.id}: ${mail.kind} of ${mail.channel}, ${stateOf(mail)}`,
    ...fact("from", mail.sender),
    ...fact(
      "conversation",
      conversation && `${conversation.id}${conversation.thread ? ` / ${conversation.thread}` : ""}`,
    ),
    ...fact("since", second(mail.at)),
    ...fact("ended", mail.ended_at && second(mail.ended_at)),
    ...fact("attempts", mail.attempts > 0 ? `${mail.attempts}${mail.error ? `, the last: ${mail.error}` : ""}` : null),
    ...fact("platform id", mail.platform_id),
    ...fact("platform says", mail.platform_status),
    ...mail.files.flatMap(({ kind, name }) => fact("file", `${name} (${kind})`)),
    ...(mail.notice === null ? [] : fact("notice", JSON.stringify(mail.notice))),
    ...(mail.text === "" ? [] : ["", mail.text]),
    ...mail.deliveries.flatMap((delivery) => ["", `${delivery.id}: answer, ${delivery.state}`, delivery.text]),
  ].join("\n");
}

const many = (count: number): string => `${count} ${count === 1 ? "message" : "messages"}`;
const times = (attempts: number): string => `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
