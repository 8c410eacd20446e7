/** The feature: a pool of child agents, and what reaches it. */
import {
  type AgentAccess,
  type ClientId,
  type Contributions,
  type FeatureContext,
  type Json,
  SvcError,
  type Tool,
  type ToolContext,
  defineTool,
} from "@svc/contract";
import type { PoolConfig } from "./config.ts";
import { AgentPool } from "./pool.ts";
import { routesOf } from "./routes.ts";
import * as v from "valibot";
import { BUDGET, budgetIn } from "./budget.ts";
import { OWN, agentJson, eventJson } from "./record.ts";

export function create(context: FeatureContext<PoolConfig>): Contributions {
  const pool = new AgentPool(context);
  const { agents, config } = context;
  return {
    tools: toolsOf(pool, agents, config),
    routes: routesOf(pool, agents),
    run: (signal) => pool.run(signal),
    shutdown: () => pool.stop(),
  };
}

// Tools: child agents with the caller's rights or fewer. An agent reaches only the children that its own client's turns made.

const id = v.pipe(v.string(), v.maxLength(40), v.description("Id of the child agent, e.g. ag-0123456789ab."));
const prompt = v.pipe(v.string(), v.minLength(1), v.maxLength(100_000), v.description("What it is to do."));
const MAX_WAIT_SECS = 240;
const ACTIVITY_EVENTS = 50;

export function toolsOf(pool: AgentPool, agents: AgentAccess, config: PoolConfig): Tool[] {
  const programs = Object.keys(config.programs);
  const known = [OWN, ...programs].join(", ");
  const seen = (agentId: string, clientId: ClientId) => {
    const found = pool.get(agentId);
    // A child of another client counts as missing.
    if (found.record.owner !== clientId) throw new SvcError("CHILD_AGENT_UNKNOWN");
    return agentJson(found);
  };
  return [
    defineTool({
      name: "create_agent",
      description:
        "Starts a child agent that works on a task of its own in the background, with your rights and never more. Call " +
        "wait_for_agent for its answer. It ends with your turn unless detached. Give it all it has to know: it does not see this " +
        `conversation. Programs: ${known}.`,
      input: v.strictObject({
        prompt,
        title: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(80), v.description("A few words."))),
        program: v.optional(
          v.pipe(v.string(), v.maxLength(32), v.description(`What it runs on; default ${OWN}, an agent like you.`)),
          OWN,
        ),
        tools: v.optional(
          v.pipe(
            v.array(v.string()),
            v.maxLength(200),
            v.description("The only tools of yours that it gets; default all."),
          ),
        ),
        budget: v.optional(BUDGET),
        detached: v.optional(v.pipe(v.boolean(), v.description("It goes on when your turn is over.")), false),
      }),
      // A program is run in the sandbox, as the tool shell would; svc's own agent acts by tools, which are judged each.
      approval: ({ program, detached }) => (program === OWN && !detached ? "auto" : "ask"),
      async run({ prompt: text, title, program, tools, budget, detached }, context) {
        context.signal.throwIfAborted();
        const { rights, clientId, turnId } = agents.callerOf(context);
        const mine = rights.tools;
        const given = tools === undefined ? mine : tools.filter((name) => mine === undefined || mine.includes(name));
        const record = await pool.create({
          prompt: text,
          title,
          program,
          rights: { agent: rights.agent, ...(given && { tools: given }) },
          owner: clientId,
          endsWith: detached ? undefined : turnId,
          madeBy: turnId,
          budget: budgetIn(budget),
        });
        return { id: record.id, status: record.status };
      },
    }),
    defineTool({
      name: "wait_for_agent",
      description: "Waits until a child agent has answered or failed, and gives its answer.",
      input: v.strictObject({
        id,
        timeout_secs: v.optional(
          v.pipe(v.number(), v.minValue(1), v.maxValue(MAX_WAIT_SECS), v.description("How long to wait at most.")),
          60,
        ),
      }),
      approval: "auto",
      async run({ id: agentId, timeout_secs: secs }, { clientId, signal }) {
        seen(agentId, clientId);
        await pool.wait(agentId, secs * 1000, signal);
        return seen(agentId, clientId) as Json;
      },
    }),
    defineTool({
      name: "send_agent_prompt",
      description: "Asks a child agent that is idle something more. It remembers what was said before.",
      input: v.strictObject({ id, prompt }),
      approval: "auto",
      async run({ id: agentId, prompt: text }, { clientId, signal }) {
        signal.throwIfAborted();
        seen(agentId, clientId);
        await pool.get(agentId).prompt(text);
        return seen(agentId, clientId) as Json;
      },
    }),
    defineTool({
      name: "get_agent_activity",
      description: "Tells what a child agent did lately: its state, texts and tool calls. Reads only.",
      input: v.strictObject({
        id,
        since: v.optional(v.pipe(v.number(), v.minValue(0), v.description("Only events after this number.")), 0),
      }),
      approval: "auto",
      async run({ id: agentId, since }, context: ToolContext) {
        context.signal.throwIfAborted();
        const agent = seen(agentId, context.clientId);
        return { agent, events: pool.events(agentId, since).slice(-ACTIVITY_EVENTS).map(eventJson) } as Json;
      },
    }),
    defineTool({
      name: "list_agents",
      description: "Lists your child agents and their states. Reads only.",
      input: v.strictObject({}),
      approval: "auto",
      async run(_, { clientId, signal }) {
        signal.throwIfAborted();
        const mine = pool.list().filter(({ record }) => record.owner === clientId);
        return mine.map((child) => {
          const { id: agentId, title, program, status, reason, lastEventAt } = agentJson(child);
          return { id: agentId, title, program, status, reason, lastEventAt };
        }) as Json;
      },
    }),
  ];
}
