/** Rights of an agent, lent to a child agent in a process of its own: its model, tools, approvals and sandbox, and nothing else. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import {
  type AgentCaller,
  type AgentLoan,
  type AgentRights,
  type Borrower,
  type ClientId,
  type Json,
  SvcError,
  type ToolContext,
} from "@svc/contract";
import { callModel } from "./turn/model-call.ts";
import { estimateTokens, tokensIn } from "./models/agent-models.ts";
import { Meter } from "./cost.ts";
import type { AgentProfile } from "./profiles.ts";
import { callTool } from "./tools/call-tool.ts";
import type { CoreToolContext, ToolEnvironment } from "./tools/environment.ts";
import { askInTime } from "./tools/permit.ts";
import { assistantMessage, redactText, textOf, toolCallsOf, toolMessage, withUniqueCallIds } from "./turn/history.ts";
import { offered, onlyOffered, type TurnExecutorDeps, withNeeded } from "./turn/execute.ts";
import { type LimitTimer, TimeLimit } from "./turn/active-turns.ts";
import { asJson, jsonAs } from "@svc/kit";

type Message = LanguageModelV4Message;

/** A child's tools are those of the turn that makes it: a turn with some of its agent's tools can't lend the others. */
export function callerOf(context: ToolContext): AgentCaller {
  const { agent, tools, clientId, turnId } = context as CoreToolContext;
  return { rights: { agent, tools }, clientId, turnId };
}

export type LenderDeps = Pick<
  TurnExecutorDeps,
  "models" | "budget" | "limitedClient" | "spending" | "clock" | "redaction" | "profileOf" | "ask"
> & { readonly timer: LimitTimer };

/** Throws AGENT_UNKNOWN. */
export function lend(deps: LenderDeps, { agent, tools }: AgentRights, borrower: Borrower): AgentLoan {
  const { turnId, clientId } = borrower;
  const { redact } = deps.redaction;
  const profile = (): AgentProfile => {
    const found = deps.profileOf(agent);
    if (!found) throw new SvcError("AGENT_UNKNOWN", undefined, { hint: "See [agents] in config.toml." });
    return found;
  };
  const only = withNeeded(tools, profile());
  const environment = (): ToolEnvironment => onlyOffered(profile().environment, only);
  const { turn } = profile();
  return {
    workspace: environment().workspace.root,
    maxSteps: turn.maxSteps,
    askModel: (messages, signal) => askModel(deps, { profile: profile(), only, messages, clientId }, signal),
    async callTool({ callId, tool, input }, signal) {
      const call = { turnId, callId, name: tool, clientId, input, ask: deps.ask, redact, signal };
      const { ok, output } = await callTool(environment, call);
      const id = { type: "tool-call", toolCallId: callId, toolName: tool, input } as const;
      return { ok, message: asJson(toolMessage(id, ok, output)) };
    },
    async askPerson({ callId, tool, input, reason }, signal) {
      if (!deps.ask) return { approved: false };
      const lasting = { reason: "A child agent asks for each call anew." };
      const question = { turnId, callId, tool, input, reason, agent, lasting };
      const { approved } = await askInTime(environment(), deps.ask, question, signal);
      return { approved };
    },
    async runProgram(program, signal) {
      const { exitCode } = await environment().exec({ ...program, signal });
      return { exitCode };
    },
  };
}

interface Step {
  readonly profile: AgentProfile;
  readonly only: readonly string[] | undefined;
  readonly messages: readonly Json[];
  readonly clientId: ClientId;
}

async function askModel(
  { models, budget, limitedClient, spending, clock, timer, redaction }: LenderDeps,
  { profile, only, messages, clientId }: Step,
  signal: AbortSignal,
): ReturnType<AgentLoan["askModel"]> {
  const said = checkedMessages(messages);
  const client = limitedClient(clientId);
  budget.check(profile, client);
  const settings = offered(await models.settingsOf(profile), only);
  const { instructions, maxOutputTokens, functionTools } = settings;
  const system: Message[] = instructions ? [{ role: "system", content: instructions }] : [];
  const meter = new Meter(profile.model, (usd) => budget.spend(profile.name, client, usd), { client });
  const estimate = (outputTokens: number) => ({
    inputTokens: estimateTokens(JSON.stringify([said, functionTools])),
    outputTokens,
  });
  const limit = new TimeLimit(timer, signal);
  limit.start(profile.turn.timeoutMs);
  try {
    const answer = await callModel({
      model: settings.model,
      about: { ...settings.about, redact: redaction.redact },
      clock,
      maxRetries: settings.maxRetries,
      onLost: (chars) =>
        meter.add({ inputTokens: undefined, outputTokens: undefined }, () => estimate(tokensIn(chars))),
      options: {
        prompt: system.concat(said),
        abortSignal: limit.signal,
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
        ...(functionTools.length > 0 && { tools: functionTools }),
      },
    });
    meter.add(answer, () => estimate(estimateTokens(JSON.stringify(answer.content))));
    const content = redactText(withUniqueCallIds(answer, said).content, redaction.redact);
    const calls = toolCallsOf(content).map(({ toolCallId, toolName, input }) => ({
      callId: toolCallId,
      tool: toolName,
      input,
    }));
    const { inputTokens, outputTokens, costUsd } = meter;
    return {
      said: asJson(assistantMessage(content)),
      text: textOf(content),
      calls,
      inputTokens,
      outputTokens,
      costUsd,
    };
  } finally {
    limit.end();
    await spending.recordAttempt(profile, meter);
  }
}

/** A child must not give itself the word of the system. */
function checkedMessages(messages: readonly Json[]): Message[] {
  const isMessage = (message: Json): boolean => {
    const { role, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown };
    return (role === "user" || role === "assistant" || role === "tool") && Array.isArray(content);
  };
  if (!messages.every(isMessage)) throw new SvcError("TOOL_BAD_INPUT", "These are no messages of a conversation.");
  return jsonAs<Message[]>(messages);
}
