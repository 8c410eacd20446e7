/** The steps of procedures, done by the agents of the config. */
import { approvalOf, type AskPerson, callTool, type ToolEnvironment } from "@svc/agent";
import { type ClientId, SvcError } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/kernel";
import type { StepWorker } from "@svc/sop";
import * as v from "valibot";
import type { Generation } from "../generation.ts";
import type { Service } from "../service.ts";

export interface StepWorkerParts {
  readonly agent: () => Service["agent"];
  readonly generation: () => Generation;
  /** Whom turns and calls of procedures belong to. */
  readonly clientId: ClientId;
  readonly redact: (text: string) => string;
  /** Asks about a call that the step's gate has not allowed. */
  readonly ask: (askedBy: string) => AskPerson;
}

export function stepWorker({ agent, generation, clientId, redact, ask }: StepWorkerParts): StepWorker {
  const environmentOf = (name = DEFAULT_AGENT): ToolEnvironment => {
    const profile = generation().agents.profiles.get(name);
    if (!profile) throw new SvcError("AGENT_UNKNOWN", undefined, { hint: "See [agents] in config.toml." });
    return profile.environment;
  };
  return {
    turn: async ({ runId, sop, title, agent: name, turnId, text, instructions, tools, granted, alongside, signal }) =>
      agent().run({
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
        alongside: ({ response }) => alongside(response),
        signal,
      }),
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
        alongside: () => {},
      }),
  };
}

/** For a person. */
const askerOf = (sop: string, runId: string): string => `procedure ${sop}, run ${runId}`;
