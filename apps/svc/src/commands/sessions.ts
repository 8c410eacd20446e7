/** `svc sessions list|search|show|rename|pin|unpin|archive|unarchive|export|cancel|delete`: the conversations of every device and channel. */
import type { SessionMessage } from "@svc/api";
import type { ControlInput } from "@svc/api/control";
import { EXIT, SvcError } from "@svc/contract";
import { columns, fileLine, minute, printable } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import type { Call } from "../service/control.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = "", id = "", more = ""] = context.args;
  const offline = await offlineOptions(context);
  return await ACTIONS[action]!(context, callHere(offline), id, more);
}

type Action = (context: CommandContext, call: Call, id: string, more: string) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = {
  list,
  search,
  show,
  rename: (context, call, id, title) => change(context, call, id, { title }),
  pin: (context, call, id) => change(context, call, id, { pinned: true }),
  unpin: (context, call, id) => change(context, call, id, { pinned: false }),
  archive: (context, call, id) => change(context, call, id, { archived: true }),
  unarchive: (context, call, id) => change(context, call, id, { archived: false }),
  export: exported,
  cancel,
  delete: remove,
};

async function list(context: CommandContext, call: Call): Promise<number> {
  const limit = limitOf(context, 50);
  const archived = context.options.flag("archived");
  const { sessions } = await call({ name: "sessions", body: { limit, archived } });
  if (context.options.flag("json")) context.printJson({ sessions });
  else if (sessions.length === 0) context.print("no conversation is kept");
  else {
    const rows = sessions.map((session) => [
      session.id,
      session.channel?.id ?? session.session_id,
      session.channel?.channel ?? session.device?.name ?? "-",
      `${session.turns} ${session.turns === 1 ? "turn" : "turns"}`,
      session.running ? "running" : `last ${minute(session.updated_at)}`,
      `${session.pinned ? "[pinned] " : ""}${session.title ?? ""}`,
    ]);
    context.print(printable(columns(rows)));
  }
  return EXIT.ok;
}

async function search(context: CommandContext, call: Call, query: string): Promise<number> {
  const body = { query, limit: limitOf(context, 20) };
  const { results } = await call({ name: "session-search", body });
  if (context.options.flag("json")) context.printJson({ results });
  else if (results.length === 0) context.print("no message has all of these words");
  for (const { session, at, role, snippet } of context.options.flag("json") ? [] : results) {
    const line = snippet.map(({ text }) => text).join("");
    context.print(printable(`${session.id}  ${minute(at)}  ${role}\n  ${line}`));
  }
  return EXIT.ok;
}

async function change(
  context: CommandContext,
  call: Call,
  id: string,
  changes: ControlInput<"session-update">["changes"],
): Promise<number> {
  const session = await call({ name: "session-update", body: { id, changes } });
  if (context.options.flag("json")) context.printJson(session);
  else {
    const state = [...(session.pinned ? ["pinned"] : []), ...(session.archived ? ["archived"] : [])];
    const suffix = state.length === 0 ? "" : ` (${state.join(", ")})`;
    context.print(printable(`${session.id}: ${session.title ?? session.session_id}${suffix}`));
  }
  return EXIT.ok;
}

async function exported(context: CommandContext, call: Call, id: string): Promise<number> {
  const format = context.options.text("format") ?? "markdown";
  const { text } = await call({ name: "session-export", body: { id, format } });
  // At a terminal nothing in it may drive the terminal; a file gets it as it is.
  context.print((process.stdout.isTTY ? printable(text) : text).replace(/\n$/, ""));
  return EXIT.ok;
}

async function show(context: CommandContext, call: Call, id: string): Promise<number> {
  const before = context.options.text("before");
  const body = { id, limit: limitOf(context, 20), ...(before !== undefined && { before }) };
  const page = await call({ name: "session-messages", body });
  if (context.options.flag("json")) {
    context.printJson(page);
    return EXIT.ok;
  }
  if (page.before !== null)
    context.print(`(older ones: svc sessions show ${page.session.id} --before ${page.before})\n`);
  for (const [at, message] of page.messages.entries()) {
    context.print(printable(messageText(message)));
    // Once for each turn, behind what it has.
    if (message.problem && page.messages[at + 1]?.turn_id !== message.turn_id)
      context.print(printable(whyText(message)));
  }
  return EXIT.ok;
}

async function cancel(context: CommandContext, call: Call, id: string): Promise<number> {
  const done = await call({ name: "session-cancel", body: { id } });
  if (context.options.flag("json")) context.printJson(done);
  else context.print(done.cancelled ? `the running turn of ${done.id} is stopped` : `no turn runs in ${done.id}`);
  return done.cancelled ? EXIT.ok : EXIT.failure;
}

async function remove(context: CommandContext, call: Call, id: string): Promise<number> {
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  const asks = atTerminal() && !context.options.flag("yes");
  if (asks && !(await confirmed("Delete the conversation and all its messages?"))) {
    throw new SvcError("CANCELLED");
  }
  const gone = await call({ name: "session-delete", body: { id } });
  if (context.options.flag("json")) context.printJson(gone);
  else context.print(`${gone.id} is deleted`);
  return EXIT.ok;
}

function whyText({ state, problem, replaced }: SessionMessage): string {
  const { code, reason, fix } = problem!;
  const why = `  [${state}${replaced ? ", sent again" : ""}: ${reason} ${code}]`;
  return fix === null ? `${why}\n` : `${why}\n  ${fix}\n`;
}

function writerOf({ role, author, kind }: SessionMessage): string {
  const name = author ? (author.name ?? author.id ?? author.kind) : undefined;
  if (kind === "continue" && role === "user") return `${name ?? role} (asks for the rest)`;
  if (name === undefined) return role;
  return kind === "by_hand" && role === "assistant" ? `${name} (by hand)` : name;
}

function messageText(message: SessionMessage): string {
  const { at, text, files, calls } = message;
  const tools = calls.map(({ tool, input, ok }) => `  [${tool} ${JSON.stringify(input)}: ${ok ? "done" : "failed"}]`);
  return [
    `${minute(at)}  ${writerOf(message)}`,
    ...tools,
    ...files.map(fileLine),
    ...(text === "" ? [] : [text]),
    "",
  ].join("\n");
}

function limitOf({ options }: CommandContext, fallback: number): number {
  const text = options.text("limit");
  if (text === undefined) return fallback;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new SvcError("USAGE", "--limit takes a whole number from 1.");
  return Number(text);
}
