/** `svc agents list | show | start | ask | interrupt | stop | events | watch`. */
import { type FeatureCommandContext, type Json, SvcError } from "@svc/contract";
import type { AgentJson, eventJson } from "./record.ts";
import { EVENTS_PATH, INTERRUPT_PATH, LIST_PATH, ONE_PATH, QUERY_PATH } from "./routes.ts";

const WAIT_SECS = 60;

/** The words are those of the table of commands, which lets no other through. */
export async function run(context: FeatureCommandContext): Promise<number> {
  const [action, ...rest] = context.args;
  switch (action) {
    case "show":
      return await one(context, rest, { method: "GET", path: ONE_PATH });
    case "start":
      return await start(context, rest);
    case "ask":
      return await ask(context, rest);
    case "interrupt":
      return await one(context, rest, { method: "POST", path: INTERRUPT_PATH });
    case "stop":
      return await one(context, rest, { method: "DELETE", path: ONE_PATH });
    case "events":
      return await events(context, rest);
    case "watch":
      return await watch(context, rest);
    default:
      return await list(context);
  }
}

async function list({ ask: request, options, print, printJson }: FeatureCommandContext): Promise<number> {
  const found = answered<{ readonly agents: AgentJson[] }>(await request({ method: "GET", path: LIST_PATH }));
  if (options.flag("json")) {
    printJson(found.agents);
    return 0;
  }
  if (found.agents.length === 0) print("There are no child agents.");
  for (const line of treeOf(found.agents)) print(line);
  return 0;
}

async function start(context: FeatureCommandContext, words: readonly string[]): Promise<number> {
  const { ask: request, options } = context;
  const prompt = words.join(" ").trim();
  if (prompt === "") throw new SvcError("USAGE", "The task is missing.", { hint: 'svc agents start "look around"' });
  const title = options.text("title");
  const program = options.text("program");
  const agent = options.text("agent");
  const budget = budgetOf(context);
  const body = {
    prompt,
    ...(budget && { budget }),
    ...(title !== undefined && { title }),
    ...(program !== undefined && { program }),
    ...(agent !== undefined && { agent }),
    ...(options.flag("wait") && { wait_secs: WAIT_SECS }),
  };
  const made = answered<AgentJson>(await request({ method: "POST", path: LIST_PATH, body }));
  return await waited(context, made);
}

function budgetOf({ options }: FeatureCommandContext) {
  const amount = (name: string): number | undefined => {
    const text = options.text(name);
    if (text === undefined) return undefined;
    if (/^[0-9]{1,12}(?:\.[0-9]{1,6})?$/.test(text) && Number(text) > 0) return Number(text);
    throw new SvcError("USAGE", `--${name} must be a number above 0.`);
  };
  const [cost, tokens, actions] = [amount("max-cost"), amount("max-tokens"), amount("max-actions")];
  const budget = {
    ...(cost !== undefined && { cost_usd: cost }),
    ...(tokens !== undefined && { tokens }),
    ...(actions !== undefined && { actions }),
  };
  return Object.keys(budget).length > 0 ? budget : undefined;
}

async function ask(context: FeatureCommandContext, [id, ...words]: readonly string[]): Promise<number> {
  const prompt = words.join(" ").trim();
  if (id === undefined || prompt === "") {
    throw new SvcError("USAGE", "The id or the question is missing.", { hint: 'svc agents ask <id> "and now?"' });
  }
  const body = { prompt, ...(context.options.flag("wait") && { wait_secs: WAIT_SECS }) };
  const found = await context.ask({ method: "POST", path: QUERY_PATH, params: { id }, body });
  return await waited(context, answered<AgentJson>(found));
}

/** With --wait it is asked for until it does not work any more. */
async function waited(context: FeatureCommandContext, first: AgentJson): Promise<number> {
  const { ask: request, options, signal } = context;
  let found = first;
  let since = "0";
  while (options.flag("wait") && (found.status === "initializing" || found.status === "running")) {
    signal.throwIfAborted();
    const query = { since, wait_secs: String(WAIT_SECS) };
    const { last } = (await request({ method: "GET", path: EVENTS_PATH, params: { id: found.id }, query })) as {
      readonly last: number;
    };
    since = String(last);
    found = answered<AgentJson>(await request({ method: "GET", path: ONE_PATH, params: { id: found.id } }));
  }
  return show(context, found);
}

async function one(
  context: FeatureCommandContext,
  [id]: readonly string[],
  question: { readonly method: "GET" | "POST" | "DELETE"; readonly path: string },
): Promise<number> {
  const found = await context.ask({ ...question, params: { id: idOf(id) } });
  show(context, answered<AgentJson>(found));
  return 0;
}

async function events({ ask: request, options, print, printJson }: FeatureCommandContext, [id]: readonly string[]) {
  const found = await request({ method: "GET", path: EVENTS_PATH, params: { id: idOf(id) } });
  const { events: all } = answered<{ readonly events: readonly EventJson[] }>(found);
  if (options.flag("json")) printJson(all);
  else for (const event of all) print(eventLine(event));
  return 0;
}

/** With --json a line of JSON for each event. */
async function watch(context: FeatureCommandContext, [id]: readonly string[]): Promise<number> {
  const { follow, options, print } = context;
  let status = 0;
  await follow({ method: "GET", path: EVENTS_PATH, params: { id: idOf(id) } }, ({ type, data }) => {
    if (options.flag("json")) print(JSON.stringify({ type, data }));
    else if (type === "events-dropped") print("… events were left out");
    else if (type !== "over") print(eventLine(answered<EventJson>(data)));
    if (type === "over") status = answered<AgentJson>(data).status === "error" ? 1 : 0;
  });
  return status;
}

/** What this feature's own routes answered: `routes.ts` has their schemas. */
const answered = <Answer>(value: Json): Answer => value as Answer;

type EventJson = ReturnType<typeof eventJson>;

const eventLine = ({ at, kind, text }: EventJson): string =>
  `${at}  ${kind.padEnd(10)}  ${text.replaceAll("\n", "\n  ")}`;

function idOf(id: string | undefined): string {
  if (id === undefined) throw new SvcError("USAGE", "The id is missing.", { hint: "List them: svc agents list." });
  return id;
}

/** 1: it failed. */
function show({ options, print, printJson }: FeatureCommandContext, agent: AgentJson): number {
  if (options.flag("json")) printJson(agent);
  else {
    print(lineOf(agent));
    if (agent.result !== null) print(`\n${agent.result}`);
  }
  return agent.status === "error" ? 1 : 0;
}

/** Each below the one that made it. */
function treeOf(agents: readonly AgentJson[], parent: string | null = null, indent = ""): string[] {
  const known = new Set(agents.map(({ id }) => id));
  const isBelow = (agent: AgentJson): boolean =>
    parent === null ? agent.parent === null || !known.has(agent.parent) : agent.parent === parent;
  return agents
    .filter(isBelow)
    .flatMap((agent) => [`${indent}${lineOf(agent)}`, ...treeOf(agents, agent.id, `${indent}  `)]);
}

function lineOf({ id, status, program, title, reason, code, spent, budget, usage }: AgentJson): string {
  const why = reason === null ? "" : ` (${code === null ? "" : `${code}: `}${reason})`;
  const dollars = (amount: number): string => `$${amount.toFixed(4)}`;
  const amounts = [
    ...(budget.cost_usd !== null || usage.cost_usd !== null
      ? [amountOf(spent.cost_usd, budget.cost_usd, dollars)]
      : []),
    ...(budget.tokens === null ? [] : [`${amountOf(spent.tokens, budget.tokens)} tokens`]),
    ...(budget.actions === null ? [] : [`${amountOf(spent.actions, budget.actions)} calls`]),
  ];
  return [`${id}  ${status}  ${program}  ${title}${why}`, ...amounts].join(", ");
}

/** `3 of 10` */
const amountOf = (spent: number | null, most: number | null, shown: (amount: number) => string = String): string =>
  `${spent === null ? "unknown" : shown(spent)}${most === null ? "" : ` of ${shown(most)}`}`;
