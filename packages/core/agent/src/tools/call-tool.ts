/**
 * One tool call, the same way for a turn and for `svc tools run`: known tool, valid input, policy, person, journal, run.
 * What goes wrong is an answer for the model, never an exception; only a lost disk and an abort end the turn.
 */
import { type ClientId, type Json, SvcError, type Tool, type ToolContext } from "@svc/contract";
import * as v from "valibot";
import type { AskPerson } from "../types.ts";
import type { ToolEnvironment } from "./environment.ts";

export interface CallRequest {
  readonly turnId: string;
  readonly callId: string;
  readonly clientId: ClientId;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly input: string;
  readonly ask?: AskPerson | undefined;
  readonly signal: AbortSignal;
  /** Runs a wait for a person with the turn's clock stopped. */
  readonly pause?: <T>(wait: () => Promise<T>) => Promise<T>;
  /** On disk together with the call's start, before an acting call runs. */
  readonly alsoOnActing?: () => void;
  /** Told when that is on disk: from here on the call may have happened. */
  readonly onActing?: () => void;
}

export interface CallOutcome {
  readonly ok: boolean;
  /** An acting tool was started. */
  readonly acted: boolean;
  readonly output: Json;
}

export async function callTool(environment: ToolEnvironment, request: CallRequest): Promise<CallOutcome> {
  let acted = false;
  try {
    const tool = environment.find(request.name);
    const input = parseInput(tool, request.input);
    await permit(environment, request, tool, input);
    acted = approvalOf(tool, input) === "ask";
    const output = await runJournalled(environment, request, tool, input, acted);
    return { ok: true, acted, output };
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    const known = error instanceof SvcError ? error : undefined;
    if (known?.code === "STORE_FULL" || known?.code === "STORE_FAILED") throw known;
    if (!known) environment.log.error("a tool failed unexpectedly", { tool: request.name, error: String(error) });
    return { ok: false, acted, output: known ? sentence(known) : `TOOL_FAILED: ${request.name} failed unexpectedly.` };
  }
}

/** Whether a call acts. A tool that runs command lines does, whatever else it says. */
export function approvalOf(tool: Tool, input: unknown): "auto" | "ask" {
  if (tool.commandLine) return "ask";
  return typeof tool.approval === "function" ? tool.approval(input) : tool.approval;
}

function parseInput(tool: Tool, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() || "{}");
  } catch (cause) {
    throw new SvcError("TOOL_BAD_INPUT", `The input of ${tool.name} is not valid JSON.`, { cause });
  }
  const result = v.safeParse(tool.input, value);
  if (result.success) return result.output;
  const where = result.issues.map((issue) => v.getDotPath(issue) ?? "input").join(", ");
  throw new SvcError("TOOL_BAD_INPUT", `The input of ${tool.name} does not fit its schema at: ${where}.`);
}

/** Returns when the call may run; throws TOOL_REFUSED with the rule otherwise. */
async function permit(environment: ToolEnvironment, request: CallRequest, tool: Tool, input: unknown): Promise<void> {
  const verdict = environment.policy.judge(tool, input);
  if (verdict.verdict === "allow") return;
  if (verdict.verdict === "refuse") throw new SvcError("TOOL_REFUSED", verdict.reason);
  const { ask, signal } = request;
  if (!ask) {
    throw new SvcError("TOOL_REFUSED", `${verdict.reason} Nobody can be asked here, so the call is refused.`, {
      hint: "Use svc chat at a terminal, or change [security.policy].",
    });
  }
  const question = { callId: request.callId, tool: tool.name, input: input as Json, reason: verdict.reason };
  const wait = (): Promise<{ approved: boolean; feedback?: string }> => askInTime(environment, ask, question, signal);
  const answer = await (request.pause ? request.pause(wait) : wait());
  if (!answer.approved) {
    throw new SvcError("TOOL_REFUSED", `The person refused this call${answer.feedback ? `: ${answer.feedback}` : "."}`);
  }
  environment.policy.recordAction(tool);
}

/** No answer in time is a refusal, never a yes. */
async function askInTime(
  environment: ToolEnvironment,
  ask: AskPerson,
  question: Parameters<AskPerson>[0],
  signal: AbortSignal,
): Promise<{ approved: boolean; feedback?: string }> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const cancel = environment.clock.after(environment.askTimeoutMs, () => controller.abort(NOBODY));
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  try {
    return await Promise.race([ask(question, controller.signal), ended]);
  } catch (error) {
    if (error === NOBODY) return { approved: false, feedback: "nobody answered in time" };
    throw error;
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
}

const NOBODY = new SvcError("TOOL_REFUSED", "Nobody answered in time.");

async function runJournalled(
  environment: ToolEnvironment,
  request: CallRequest,
  tool: Tool,
  input: unknown,
  acting: boolean,
): Promise<Json> {
  const { store } = environment;
  const { turnId, callId } = request;
  await store.write(() => {
    store.toolCalls.start({ turnId, callId, tool: tool.name, acting, input: input as Json });
    if (acting) request.alsoOnActing?.();
  });
  if (acting) request.onActing?.();
  let state: "finished" | "failed" = "failed";
  let output: Json = null;
  try {
    output = bounded(await tool.run(input, contextOf(environment, request)), environment.maxOutputChars);
    state = "finished";
    return output;
  } finally {
    await store.write(() => store.toolCalls.finish(turnId, callId, state, output));
  }
}

function contextOf(environment: ToolEnvironment, request: CallRequest): ToolContext {
  const { signal } = request;
  return {
    clientId: request.clientId,
    signal,
    log: environment.log,
    workspace: environment.workspace,
    exec: (command) => environment.exec({ ...command, signal: command.signal ?? signal }),
    fetch: (url, options) => environment.fetch(url, { ...options, signal: options?.signal ?? signal }),
  };
}

/** A result the model can be shown: what is too long is cut, and that is said. */
function bounded(output: Json, maxChars: number): Json {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  if (text.length <= maxChars) return output;
  return `${text.slice(0, maxChars)}\n[cut: ${text.length - maxChars} more characters]`;
}

function sentence(error: SvcError): string {
  return `${error.code}: ${error.message}${error.hint ? ` ${error.hint}` : ""}`;
}
