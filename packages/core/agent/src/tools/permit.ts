/** Whether a call may run: what the policy says, and the person whom it sends the call to. */
import { type ClientId, type FileChange, type Json, SvcError, type Tool } from "@svc/contract";
import { redactJson } from "@svc/config";
import { withTimeout } from "@svc/kit/async";
import type { ToolCallRecord } from "@svc/store";
import * as v from "valibot";
import type { ApprovalScope } from "../policy/approval-scope.ts";
import type { AskPerson, LastingOffers, PersonAnswer, ToolQuestion } from "../types.ts";
import type { CoreTool, ToolEnvironment } from "./environment.ts";

export interface CallRequest {
  readonly turnId: string;
  readonly callId: string;
  readonly clientId: ClientId;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly input: string;
  readonly ask?: AskPerson | undefined;
  /** Where the call is made, and who speaks there. Without it a yes can't hold for the rest of the conversation. */
  readonly conversation?: { readonly owner: ClientId; readonly name: string; readonly sender: string } | undefined;
  /** Asked where a person would be: whether one has said yes to such a call before. A yes holds once. */
  readonly isGranted?: ((tool: string) => boolean) | undefined;
  readonly signal: AbortSignal;
  /** Takes the configured secrets out of what the tool gives: a file can hold one, and the model's provider is a stranger. */
  readonly redact?: ((text: string) => string) | undefined;
  /** On disk before a person is asked. */
  readonly beforeAsk?: ((call: ToolCallRecord) => Promise<void>) | undefined;
  /** Runs a wait for a person with the turn's clock stopped. */
  readonly pause?: <T>(wait: () => Promise<T>) => Promise<T>;
  /** On disk together with the call's start, before it runs. */
  readonly alsoOnStart?: (acting: boolean) => void;
  /** Told when that is on disk: from here on the call may have happened. */
  readonly onStarted?: (acting: boolean) => void;
}

/** A call that may run now, in the environment that said so. */
export interface PermittedCall {
  readonly environment: ToolEnvironment;
  readonly tool: Tool;
  readonly input: unknown;
  /** Its command line runs because it is listed; no person approved it. */
  readonly unasked?: boolean;
  /** As `CoreToolContext.pinned`. */
  readonly pinned?: Readonly<Record<string, Json>> | undefined;
}

/**
 * Runs the call when it may run; throws TOOL_REFUSED with the rule otherwise. While a person thinks, the config can change:
 * what is in force after the yes has the last word, and a yes answers a question, not a refusal. `run` is entered in the
 * same breath as the verdict is given, or a reload in between would take the tool's feature away under it.
 */
export async function whenPermitted<T>(
  current: () => ToolEnvironment,
  request: CallRequest,
  run: (call: PermittedCall) => Promise<T>,
): Promise<T> {
  const asked = await whenJudgeable(current, request);
  refuseByTool(asked, request);
  const client = asked.environment.limitedClient(request.clientId);
  const verdict = asked.environment.policy.judge(asked.tool, asked.input, client);
  if (verdict.verdict === "allow") return run({ ...asked, unasked: verdict.isListedLine === true });
  if (verdict.verdict === "refuse") throw new SvcError("TOOL_REFUSED", verdict.reason);
  if (request.isGranted?.(asked.tool.name) === true) {
    asked.environment.policy.recordAction(asked.tool, client);
    return run(asked);
  }
  const pin = await pinOf(asked, request);
  // What a yes covers beside the arguments may be something else the next time.
  const lasting = pin ? undefined : asked.environment.policy.lasting(asked.tool, asked.input);
  if (lasting && isAllowedHere(asked.environment, request, lasting)) {
    asked.environment.policy.recordAction(asked.tool, client);
    return run({ ...asked, unasked: asked.tool.commandLine !== undefined });
  }
  const pinned = await askPerson(asked, request, { reason: verdict.reason, pinned: pin, lasting });
  const call = { ...callIn(current(), request), pinned };
  refuseByTool(call, request);
  const { policy } = call.environment;
  const now = policy.judge(call.tool, call.input, client);
  if (now.verdict === "refuse") throw new SvcError("TOOL_REFUSED", now.reason);
  if (now.verdict === "ask") policy.recordAction(call.tool, client);
  return run(call);
}

/** Whether a command line is confined, on which the verdict depends, may be unknown for a moment after the daemon's start. */
async function whenJudgeable(current: () => ToolEnvironment, request: CallRequest): Promise<PermittedCall> {
  const call = callIn(current(), request);
  if (!call.tool.commandLine || !call.environment.sandboxKnown) return call;
  await call.environment.sandboxKnown;
  return callIn(current(), request);
}

/** Throws TOOL_REFUSED. */
function refuseByTool({ tool, input }: PermittedCall, call: CallRequest): void {
  const reason = (tool as CoreTool).refuses?.(input, call);
  if (reason !== undefined) throw new SvcError("TOOL_REFUSED", reason);
}

/** Throws TOOL_UNKNOWN, TOOL_UNAVAILABLE, TOOL_BAD_INPUT. */
function callIn(environment: ToolEnvironment, request: CallRequest): PermittedCall {
  const tool = environment.find(request.name);
  return { environment, tool, input: parseInput(tool, request.input) };
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

/** Whether a person has said yes to such calls for the rest of the conversation, and for whoever speaks. */
function isAllowedHere(
  { store, agent }: ToolEnvironment,
  { conversation }: CallRequest,
  { conversation: pattern }: ApprovalScope,
): boolean {
  return (
    conversation !== undefined && pattern !== undefined && store.grants.has({ ...conversation, agent }, pattern.key)
  );
}

/** Throws TOOL_REFUSED where there is nobody to ask, and what the tool throws. */
async function pinOf(call: PermittedCall, { turnId, callId }: CallRequest): Promise<PermittedCall["pinned"]> {
  const { agent, workspace } = call.environment;
  return (call.tool as CoreTool).pin?.(call.input, { turnId, callId, agent, workspace });
}

interface Asking {
  readonly reason: string;
  readonly pinned: PermittedCall["pinned"];
  readonly lasting: ApprovalScope | undefined;
}

/** Returns after a yes, with what was pinned for it. */
async function askPerson(
  call: PermittedCall,
  request: CallRequest,
  { reason, pinned, lasting }: Asking,
): Promise<Readonly<Record<string, Json>> | undefined> {
  const { ask, signal, turnId, callId } = request;
  const { environment, tool } = call;
  if (!ask) {
    throw new SvcError("TOOL_REFUSED", `${reason} Nobody can be asked here, so the call is refused.`, {
      hint: "Use svc chat at a terminal, or change [security.policy].",
    });
  }
  await request.beforeAsk?.(recordOf(call, request));
  const input = { ...(call.input as Record<string, Json>), ...pinned };
  const change = await previewOf(call, signal);
  const question: ToolQuestion = {
    turnId,
    callId,
    tool: tool.name,
    input: pinned ? input : (call.input as Json),
    reason,
    agent: environment.agent,
    ...(tool.commandLine && { command: tool.commandLine(call.input), folder: tool.commandFolder?.(call.input) ?? "." }),
    ...(change && { change }),
    lasting: offersOf(lasting, environment.agent, request),
  };
  const wait = (): Promise<PersonAnswer> => askInTime(call.environment, ask, question, signal);
  const answer = await (request.pause ? request.pause(wait) : wait());
  if (!answer.approved) throw refusalOf(answer);
  return pinned;
}

/** Who was not reached has not rejected anything. */
function refusalOf({ feedback, isRejected = true }: PersonAnswer): SvcError {
  if (!isRejected) return new SvcError("TOOL_REFUSED", `No person approved this call: ${feedback ?? "no answer"}.`);
  return new SvcError("TOOL_REJECTED", `A person rejected this call${feedback ? `: ${feedback}` : "."}`);
}

/** What can't be told is left out: the call is asked about all the same. */
async function previewOf(
  { tool, input, environment }: PermittedCall,
  signal: AbortSignal,
): Promise<FileChange | undefined> {
  try {
    return await tool.preview?.(input, { workspace: environment.workspace, signal });
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** `lasting`: undefined where what the call uses beside its arguments counts too. */
function offersOf(lasting: ApprovalScope | undefined, agent: string, { conversation }: CallRequest): LastingOffers {
  if (!lasting) return { reason: "The call uses files, whose content may be another one the next time." };
  const { conversation: pattern, always, reason } = lasting;
  return {
    ...(conversation && pattern && { conversation: { ...pattern, place: { ...conversation, agent } } }),
    ...(always && { always }),
    ...(reason !== undefined && { reason }),
  };
}

/** No answer in time is a refusal, never a yes. */
export async function askInTime(
  environment: ToolEnvironment,
  ask: AskPerson,
  question: ToolQuestion,
  signal: AbortSignal,
): Promise<PersonAnswer> {
  const { clock, askTimeoutMs: timeoutMs } = environment;
  try {
    return await withTimeout({ clock, timeoutMs, signal, error: () => UNANSWERED }, (given) => ask(question, given));
  } catch (error) {
    if (error === UNANSWERED) return { approved: false, isRejected: false, feedback: "no answer in time" };
    throw error;
  }
}

const UNANSWERED = new SvcError("TOOL_REFUSED", "No answer in time.");

/** A call as it is in the journal. */
export function recordOf(call: PermittedCall, { turnId, callId, clientId, redact }: CallRequest): ToolCallRecord {
  const { environment, tool } = call;
  const input = call.input as Json;
  const acting = approvalOf(tool, call.input) === "ask";
  return {
    turnId,
    callId,
    agent: environment.agent,
    client: environment.limitedClient(clientId),
    tool: tool.name,
    acting,
    input: redact ? redactJson(input, redact) : input,
  };
}

/** Whether a call acts. A tool that runs command lines does, whatever else it says. */
export function approvalOf(tool: Tool, input: unknown): "auto" | "ask" {
  if (tool.commandLine) return "ask";
  return typeof tool.approval === "function" ? tool.approval(input) : tool.approval;
}
