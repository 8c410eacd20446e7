/**
 * One tool call, the same way for a turn and for `svc tools run`: known tool, valid input, policy, person, journal, run.
 * What goes wrong is an answer for the model, never an exception; only a lost disk and an abort end the turn.
 */
import { type Json, SvcError } from "@svc/contract";
import { type Tracer, NO_TRACER, codeOf, watched } from "@svc/runtime";
import { redactJson } from "@svc/config";
import type { CoreToolContext, ToolEnvironment } from "./environment.ts";
import { type CallRequest, type PermittedCall, recordOf, whenPermitted } from "./permit.ts";

export interface CallOutcome {
  readonly ok: boolean;
  /** A person said no to it. */
  readonly isRejected?: boolean;
  /** An acting tool was started. */
  readonly acted: boolean;
  /** The journal holds it. */
  readonly journalled: boolean;
  readonly output: Json;
}

/** `current` is the environment in force, asked for whenever it matters; a plain environment stays what it is. */
export async function callTool(
  current: ToolEnvironment | (() => ToolEnvironment),
  request: CallRequest,
): Promise<CallOutcome> {
  const { signal } = request;
  let environment: ToolEnvironment | undefined;
  let calledAtMs = 0;
  const inForce = (): ToolEnvironment => {
    environment = typeof current === "function" ? current() : current;
    calledAtMs ||= environment.clock.now();
    return environment;
  };
  try {
    return await whenPermitted(inForce, request, (call) => call.environment.track(() => runJournalled(call, request)));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (isStoreError(error)) throw error;
    traceRefusal(environment, request, calledAtMs, error);
    const isRejected = error instanceof SvcError && error.code === "TOOL_REJECTED";
    return {
      ok: false,
      ...(isRejected && { isRejected }),
      acted: false,
      journalled: false,
      output: errorForModel(error, request, environment),
    };
  }
}

async function runJournalled(call: PermittedCall, request: CallRequest): Promise<CallOutcome> {
  const { store } = call.environment;
  const { turnId, callId } = request;
  const record = recordOf(call, request);
  const { acting } = record;
  await store.write(() => {
    store.toolCalls.start(record);
    request.alsoOnStart?.(acting);
  });
  request.onStarted?.(acting);
  const { state, output, error } = await tracedCall(call, request, () => run(call, request));
  await store.write(() => store.toolCalls.finish(turnId, callId, state, output));
  if (state === "interrupted") throw error;
  return { ok: state === "finished", acted: acting, journalled: true, output };
}

export interface EndedCall {
  readonly state: "finished" | "failed" | "interrupted";
  readonly output: Json;
  /** Why it did not finish. */
  readonly error?: unknown;
}

/** What the journal is told. A call that was called off, or that the disk failed, may have happened or not. */
async function run(call: PermittedCall, request: CallRequest): Promise<EndedCall> {
  const { environment, tool, input } = call;
  const { signal, redact } = request;
  try {
    // Who was stopped while the start was written must not act any more.
    signal.throwIfAborted();
    const result = await tool.run(input, contextOf(call, request));
    const output = bounded(redact ? redactJson(result, redact) : result, environment.maxOutputChars);
    return { state: "finished", output };
  } catch (error) {
    if (signal.aborted || isStoreError(error)) return { state: "interrupted", output: null, error };
    return { state: "failed", output: errorForModel(error, request, environment), error };
  }
}

function contextOf({ environment, unasked = false, pinned }: PermittedCall, request: CallRequest): CoreToolContext {
  const { clientId, turnId, callId, signal } = request;
  return {
    clientId,
    turnId,
    callId,
    pinned,
    agent: environment.agent,
    get tools() {
      return environment.tools.map((tool) => tool.name);
    },
    signal,
    log: environment.log,
    workspace: environment.workspace,
    exec: (command) => environment.exec({ ...command, unasked, signal: command.signal ?? signal }),
    fetch: (url, options) => environment.fetch(url, { ...options, signal: options?.signal ?? signal }),
    reader: (type) => environment.reader?.(type),
  };
}

/** A result the model can be shown: what is too long is cut, and that is said. */
function bounded(output: Json, maxChars: number): Json {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  if (text.length <= maxChars) return output;
  return `${text.slice(0, maxChars)}\n[cut: ${text.length - maxChars} more characters]`;
}

/** What the model is told of an error. */
function errorForModel(
  error: unknown,
  { name, redact = sameText }: CallRequest,
  environment: ToolEnvironment | undefined,
): string {
  if (error instanceof SvcError) return redact(`${error.code}: ${error.message}${error.hint ? ` ${error.hint}` : ""}`);
  environment?.log.error("a tool failed unexpectedly", { tool: name, error: String(error) });
  return `TOOL_FAILED: ${name} failed unexpectedly.`;
}

const isStoreError = (error: unknown): boolean =>
  error instanceof SvcError && (error.code === "STORE_FULL" || error.code === "STORE_FAILED");

const sameText = (text: string): string => text;

/** Runs the call as one span. Its name is of a tool that exists: a model can call anything. */
function tracedCall(
  { environment, tool, input }: PermittedCall,
  { callId, redact = unchanged }: CallRequest,
  run: () => Promise<EndedCall>,
): Promise<EndedCall> {
  const tracer = instrumentsOf(environment);
  if (!tracer.isWatched) return run();
  const span = tracer.begin("tool-call", { tool: tool.name, callId });
  const recordedRun = async (): Promise<EndedCall> => {
    span.content("input", redactJson(input as Json, redact));
    const ended = await run();
    span.content("output", ended.output);
    return ended;
  };
  return watched(span, span.wantsContent ? recordedRun : run, (error, ended) => ({
    error: ended && ended.state !== "finished" ? codeOf(ended.error, "TOOL_FAILED") : error,
  }));
}

/** The span of a call that did not run: its input was wrong, or the policy or a person refused it. */
function traceRefusal(
  environment: ToolEnvironment | undefined,
  { name: tool, callId }: CallRequest,
  calledAtMs: number,
  error: unknown,
): void {
  if (!environment || !instrumentsOf(environment).isWatched || !environment.tools.some(({ name }) => name === tool))
    return;
  const span = instrumentsOf(environment).begin("tool-call", { tool, callId }, { startedAtMs: calledAtMs });
  span.end({ error: codeOf(error, "TOOL_FAILED") });
}

const instrumentsOf = ({ tracer = NO_TRACER }: ToolEnvironment): Tracer => tracer;

const unchanged = (text: string): string => text;
