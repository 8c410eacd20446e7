/** Routes for the page, the command line and other programs of an operator. */
import {
  type AgentAccess,
  type Json,
  type Route,
  type RouteEvent,
  type RouteRequest,
  type RouteStreamRequest,
  SvcError,
} from "@svc/contract";
import * as v from "valibot";
import type { AgentPool } from "./pool.ts";
import { BUDGET, budgetIn } from "./budget.ts";
import { agentJson, eventJson } from "./record.ts";

export const LIST_PATH = "/api/agents";
export const ONE_PATH = "/api/agents/{id}";
export const QUERY_PATH = "/api/agents/{id}/query";
export const INTERRUPT_PATH = "/api/agents/{id}/interrupt";
export const EVENTS_PATH = "/api/agents/{id}/events";

const MAX_WAIT_SECS = 60;

const amounts = {
  cost_usd: v.nullable(v.number()),
  tokens: v.nullable(v.number()),
  actions: v.nullable(v.number()),
};

const AGENT = v.object({
  id: v.string(),
  title: v.string(),
  program: v.pipe(v.string(), v.description("svc, or a name of agents_pool.programs.")),
  agent: v.pipe(v.string(), v.description("Agent of the config whose rights it has.")),
  parent: v.pipe(v.nullable(v.string()), v.description("Child agent that made it.")),
  detached: v.boolean(),
  depth: v.number(),
  status: v.picklist(["initializing", "running", "idle", "error", "closed"]),
  reason: v.nullable(v.string()),
  code: v.pipe(v.nullable(v.string()), v.description("Of an error: stable, e.g. CHILD_AGENT_BUDGET.")),
  processAlive: v.pipe(v.boolean(), v.description("Its process runs.")),
  pumpAlive: v.pipe(v.boolean(), v.description("What it says is read.")),
  lastEventAt: v.pipe(v.string(), v.description("Its last sign of life.")),
  created_at: v.string(),
  pid: v.nullable(v.number()),
  prompts: v.number(),
  result: v.pipe(v.nullable(v.string()), v.description("Its last answer.")),
  result_cut: v.boolean(),
  usage: v.object({
    input_tokens: v.number(),
    output_tokens: v.number(),
    cost_usd: v.pipe(v.nullable(v.number()), v.description("null: unknown.")),
    actions: v.pipe(v.number(), v.description("Calls of tools.")),
  }),
  spent: v.pipe(v.object(amounts), v.description("With what child agents that it made have spent.")),
  budget: v.pipe(v.object(amounts), v.description("What it may spend; null: no limit.")),
});

const EVENT = v.object({
  seq: v.number(),
  at: v.string(),
  kind: v.picklist(["status", "prompt", "text", "thought", "tool", "plan", "permission", "other"]),
  text: v.string(),
});

const prompt = v.pipe(v.string(), v.minLength(1), v.maxLength(100_000), v.description("What it is to do."));
const waitSecs = v.optional(
  v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_WAIT_SECS), v.description("Answer when it is done, or after this.")),
  0,
);
const NEW_AGENT = v.strictObject({
  prompt,
  title: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(80))),
  program: v.optional(v.pipe(v.string(), v.maxLength(32), v.description("Default: svc."))),
  agent: v.optional(v.pipe(v.string(), v.maxLength(64), v.description("Agent of the config whose rights it gets."))),
  budget: v.optional(BUDGET),
  wait_secs: waitSecs,
});
const QUERY = v.strictObject({ prompt, wait_secs: waitSecs });

export function routesOf(pool: AgentPool, agents: AgentAccess): Route[] {
  const shown = (id: string) => agentJson(pool.get(id));
  const ofId = ({ params }: RouteRequest): string => params["id"]!;
  const answerOf = async (id: string, secs: number, { signal }: RouteRequest) => {
    if (secs > 0) await pool.wait(id, secs * 1000, signal);
    return shown(id);
  };
  const routes: Route[] = [
    {
      method: "GET",
      path: LIST_PATH,
      access: "operate",
      doc: {
        summary: "Lists the child agents, the newest last.",
        answers: { 200: { description: "All that are known.", body: v.object({ agents: v.array(AGENT) }) } },
      },
      async handle() {
        return { status: 200, body: { agents: pool.list().map(agentJson) } };
      },
    },
    {
      method: "POST",
      path: LIST_PATH,
      doc: {
        summary: "Starts a child agent, which belongs to no turn.",
        body: NEW_AGENT,
        answers: { 201: { description: "It is started.", body: AGENT } },
        errors: ["AGENT_UNKNOWN", "CHILD_AGENT_LIMIT", "CHILD_AGENT_BUDGET", "TOOL_BAD_INPUT", "STORE_FAILED"],
      },
      async handle(request) {
        const asked = v.parse(NEW_AGENT, request.body);
        const { caller } = request;
        const { id } = await pool.create({
          prompt: asked.prompt,
          title: asked.title,
          program: asked.program,
          rights: agents.rightsOf(asked.agent),
          owner: caller.kind === "device" ? caller.clientId : await agents.operator(),
          endsWith: undefined,
          madeBy: undefined,
          budget: budgetIn(asked.budget),
        });
        return { status: 201, body: (await answerOf(id, asked.wait_secs, request)) as Json };
      },
    },
    {
      method: "GET",
      path: ONE_PATH,
      access: "operate",
      doc: {
        summary: "Shows a child agent.",
        answers: { 200: { description: "As it is now.", body: AGENT } },
        errors: ["CHILD_AGENT_UNKNOWN"],
      },
      handle: async (request) => ({ status: 200, body: shown(ofId(request)) as Json }),
    },
    {
      method: "DELETE",
      path: ONE_PATH,
      doc: {
        summary: "Ends a child agent with all its processes, and the child agents that it made.",
        answers: { 200: { description: "None of its processes is left.", body: AGENT } },
        errors: ["CHILD_AGENT_UNKNOWN"],
      },
      async handle(request) {
        await pool.close(ofId(request), "a person ended it");
        return { status: 200, body: shown(ofId(request)) as Json };
      },
    },
    {
      method: "POST",
      path: QUERY_PATH,
      doc: {
        summary: "Asks an idle child agent something more.",
        body: QUERY,
        answers: { 200: { description: "It works on it, or has answered within `wait_secs`.", body: AGENT } },
        errors: ["CHILD_AGENT_UNKNOWN", "CHILD_AGENT_STATE", "STORE_FAILED"],
      },
      async handle(request) {
        const asked = v.parse(QUERY, request.body);
        await pool.get(ofId(request)).prompt(asked.prompt);
        return { status: 200, body: (await answerOf(ofId(request), asked.wait_secs, request)) as Json };
      },
    },
    {
      method: "POST",
      path: INTERRUPT_PATH,
      doc: {
        summary: "Tells a child agent that runs to end its answer. It is idle then.",
        answers: { 200: { description: "It was told.", body: AGENT } },
        errors: ["CHILD_AGENT_UNKNOWN", "CHILD_AGENT_STATE"],
      },
      async handle(request) {
        await pool.get(ofId(request)).interrupt();
        return { status: 200, body: shown(ofId(request)) as Json };
      },
    },
    {
      method: "GET",
      path: EVENTS_PATH,
      access: "operate",
      doc: {
        summary: "Tells what a child agent did: the newest 500 events.",
        query: {
          since: v.optional(v.pipe(v.string(), v.description("Number of the last event that is known; default 0."))),
          wait_secs: v.optional(
            v.pipe(v.string(), v.description(`Wait so long for an event, at most ${MAX_WAIT_SECS}; default 0.`)),
          ),
        },
        answers: {
          200: { description: "In order.", body: v.object({ events: v.array(EVENT), last: v.number() }) },
        },
        errors: ["CHILD_AGENT_UNKNOWN", "BAD_REQUEST"],
      },
      async handle(request) {
        const id = ofId(request);
        const since = numberIn(request.query, "since", Number.MAX_SAFE_INTEGER);
        const secs = numberIn(request.query, "wait_secs", MAX_WAIT_SECS);
        const isThere = (): boolean => pool.events(id, since).length > 0;
        if (secs > 0) await pool.watch(isThere, secs * 1000, request.signal);
        const events = pool.events(id, since).map(eventJson);
        return { status: 200, body: { events, last: events.at(-1)?.seq ?? since } };
      },
      async stream(request) {
        const id = ofId(request);
        const since = numberIn(request.query, "since", Number.MAX_SAFE_INTEGER);
        await pool.load();
        pool.get(id);
        return eventsOf(pool, id, positionIn(request) ?? since, request.signal);
      },
    },
  ];
  return routes.map((route) => ({
    ...route,
    async handle(request) {
      // A command asks without a daemon: then the rows are all that there is.
      await pool.load();
      return await route.handle(request);
    },
  }));
}

/** Each event by its kind; `events-dropped` where some were forgotten; at the child agent's end `over`, with all that is known of it. */
async function* eventsOf(pool: AgentPool, id: string, since: number, signal: AbortSignal): AsyncGenerator<RouteEvent> {
  let last = since;
  for await (const event of pool.follow(id, since, signal)) {
    if (event) last = event.seq;
    yield event
      ? { id: `${last}`, type: event.kind, data: eventJson(event) }
      : { id: `${last}`, type: "events-dropped", data: {} };
  }
  const child = pool.get(id);
  if (child.isOver) yield { id: `${last}`, type: "over", data: agentJson(child) as Json };
}

/** Where the client stands, as it was told. What is no number of an event is no position. */
function positionIn({ lastEventId }: RouteStreamRequest): number | undefined {
  return /^[0-9]{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : undefined;
}

function numberIn(query: URLSearchParams, name: string, most: number): number {
  const text = query.get(name) ?? "0";
  const number = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= most)) throw new SvcError("BAD_REQUEST", `${name} must be a whole number from 0 to ${most}.`);
  return number;
}
