/** The steps of procedures, done by the agents of the config. */
import { type Agent, approvalOf, type AskPerson, callTool, type ToolEnvironment } from "@svc/agent";
import { type ClientId, type Json, SvcError } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/config";
import type { StepWorker, TurnStepWork } from "@svc/sop";
import type { Store } from "@svc/store";
import * as v from "valibot";
import type { Generation } from "../generation.ts";

export interface StepWorkerDeps {
  readonly agent: () => Agent;
  readonly generation: () => Generation;
  /** Whom turns and calls of procedures belong to. */
  readonly clientId: ClientId;
  readonly redact: (text: string) => string;
  /** Asks about a call that the step's gate has not allowed. */
  readonly ask: (askedBy: string) => AskPerson;
  readonly store: Pick<Store, "toolCalls">;
  /** What the turn made ends with it. */
  readonly turnEnded: (turnId: string) => void;
}

export function stepWorker({ agent, generation, store, clientId, redact, ask, turnEnded }: StepWorkerDeps): StepWorker {
  const environmentOf = (name = DEFAULT_AGENT): ToolEnvironment => {
    const profile = generation().agents.profiles.get(name);
    if (!profile) throw new SvcError("AGENT_UNKNOWN", undefined, { hint: "See [agents] in config.toml." });
    return profile.environment;
  };
  /** By the tools of child agents, under the agent's policy: who may not make one has none in a procedure. */
  const onChildAgent = async (work: TurnStepWork): Promise<{ readonly response: string }> => {
    const { runId, sop, title, agent: name, childAgent, turnId, text, instructions, tools, granted, signal } = work;
    // What the child agent did before the restart is unknown: a person decides whether the step runs again.
    if (store.toolCalls.of(turnId).length > 0) throw childFailed("svc ended while the child agent of this step worked");
    const call = async (tool: string, input: Json): Promise<Partial<ChildAgentAnswer>> => {
      const { ok, output } = await callTool(() => environmentOf(name), {
        turnId,
        callId: `child-${crypto.randomUUID()}`,
        clientId,
        name: tool,
        input: JSON.stringify(input),
        ask: ask(askerOf(sop, runId)),
        ...(granted && { isGranted: () => true }),
        redact,
        signal,
      });
      if (!ok || typeof output !== "object") throw childFailed(String(output));
      return output as Partial<ChildAgentAnswer>;
    };
    try {
      const prompt = `${instructions}\n\n${text}`;
      const { id = "" } = await call("create_agent", { prompt, title, program: childAgent!, tools: [...tools] });
      for (;;) {
        const { status, reason, result } = await call("wait_for_agent", { id, timeout_secs: WAIT_SECS });
        if (status === "initializing" || status === "running") continue;
        if (status !== "idle" || typeof result !== "string") throw childFailed(reason ?? "it gave no answer");
        return { response: redact(result) };
      }
    } finally {
      turnEnded(turnId);
    }
  };
  return {
    turn: async (work) => {
      if (work.childAgent !== undefined) return onChildAgent(work);
      const {
        runId,
        sop,
        title,
        agent: name,
        turnId,
        text,
        instructions,
        tools,
        granted,
        inTransaction,
        signal,
      } = work;
      return agent().run({
        clientId,
        owner: clientId,
        session: runId,
        title,
        text,
        instructions,
        turnId,
        resumable: true,
        tools,
        ...(granted && { granted: tools }),
        ...(name !== undefined && { agent: name }),
        ask: ask(askerOf(sop, runId)),
        inTransaction: ({ response }) => inTransaction(response),
        signal,
      });
    },
    call: async ({ runId, sop, agent: name, turnId, callId, tool, input, granted, signal }) =>
      callTool(() => environmentOf(name), {
        turnId,
        callId,
        clientId,
        name: tool,
        input: JSON.stringify(input),
        ask: ask(askerOf(sop, runId)),
        ...(granted && { isGranted: () => true }),
        redact,
        signal,
      }),
    acts: (name, tool, input) => {
      const found = environmentOf(name).find(tool);
      const parsed = v.safeParse(found.input, input);
      // What does not fit is refused by the call itself; until then it is taken for the worse.
      return !parsed.success || approvalOf(found, parsed.output) === "ask";
    },
    runsCommands: (name, tool) => environmentOf(name).find(tool).commandLine !== undefined,
    abandon: ({ runId, agent: name, turnId }) =>
      agent().abandon({
        turnId,
        owner: clientId,
        session: runId,
        ...(name !== undefined && { agent: name }),
        inTransaction: () => {},
      }),
  };
}

const WAIT_SECS = 240;

interface ChildAgentAnswer {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly result: string | null;
}

const childFailed = (reason: string): SvcError =>
  new SvcError("CHILD_AGENT_FAILED", `The child agent of this step failed: ${reason}.`);

/** For a person. */
const askerOf = (sop: string, runId: string): string => `procedure ${sop}, run ${runId}`;
