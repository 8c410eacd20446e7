/**
 * One tool call, the same way for a turn and for `svc tools run`: known tool, valid input, policy, person, journal, run.
 * What goes wrong is an answer for the model, never an exception; only a lost disk and an abort end the turn.
 */
import { type ClientId, type Json, SvcError, type Tool } from "@svc/contract";
import type { AskPerson } from "../types.ts";
import type { CoreToolContext } from "./core-tool-context.ts";
import type { ToolEnvironment } from "./environment.ts";
import { type PermittedCall, whenPermitted } from "./permit.ts";
import { redactJson } from "./redact-json.ts";

export interface CallRequest {
  readonly turnId: string;
  readonly callId: string;
  readonly clientId: ClientId;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly input: string;
  readonly ask?: AskPerson | undefined;
  readonly signal: AbortSignal;
  /** Takes the configured secrets out of what the tool gives: a file can hold one, and the model's provider is a stranger. */
  readonly redact?: ((text: string) => string) | undefined;
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

/** `current` is the environment in force, asked for whenever it matters; a plain environment stays what it is. */
export async function callTool(
  current: ToolEnvironment | (() => ToolEnvironment),
  request: CallRequest,
): Promise<CallOutcome> {
  const { name, signal, redact = asItIs } = request;
  let environment: ToolEnvironment | undefined;
  const inForce = (): ToolEnvironment => (environment = typeof current === "function" ? current() : current);
  let acted = false;
  try {
    const output = await whenPermitted(inForce, request, (call) => {
      acted = approvalOf(call.tool, call.input) === "ask";
      return call.environment.track(() => runJournalled(call, request, acted));
    });
    return { ok: true, acted, output };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const known = error instanceof SvcError ? error : undefined;
    if (known?.code === "STORE_FULL" || known?.code === "STORE_FAILED") throw known;
    if (!known) environment?.log.error("a tool failed unexpectedly", { tool: name, error: String(error) });
    const output = known ? redact(sentence(known)) : `TOOL_FAILED: ${name} failed unexpectedly.`;
    return { ok: false, acted, output };
  }
}

/** Whether a call acts. A tool that runs command lines does, whatever else it says. */
export function approvalOf(tool: Tool, input: unknown): "auto" | "ask" {
  if (tool.commandLine) return "ask";
  return typeof tool.approval === "function" ? tool.approval(input) : tool.approval;
}

async function runJournalled(call: PermittedCall, request: CallRequest, acting: boolean): Promise<Json> {
  const { environment, tool, input } = call;
  const { agent, store, maxOutputChars } = environment;
  const { turnId, callId, signal, redact } = request;
  await store.write(() => {
    store.toolCalls.start({ turnId, callId, agent, tool: tool.name, acting, input: input as Json });
    if (acting) request.alsoOnActing?.();
  });
  if (acting) request.onActing?.();
  let state: "finished" | "failed" = "failed";
  let output: Json = null;
  try {
    // Who was stopped while that was written must not act any more.
    signal.throwIfAborted();
    const result = await tool.run(input, contextOf(environment, request));
    output = bounded(redact ? redactJson(result, redact) : result, maxOutputChars);
    state = "finished";
    return output;
  } finally {
    await store.write(() => store.toolCalls.finish(turnId, callId, state, output));
  }
}

function contextOf(environment: ToolEnvironment, request: CallRequest): CoreToolContext {
  const { clientId, turnId, callId, signal } = request;
  return {
    clientId,
    turnId,
    callId,
    agent: environment.agent,
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

const asItIs = (text: string): string => text;
