/** Tool calls that a person has to allow: the agent's question becomes an approval, and its answer the agent's. */
import { type Conversation, type FileChange, type Json, SvcError } from "@svc/contract";
import type { Approval, ApprovalOffers, OfferedPattern, Store } from "@svc/store";
import type { ApprovalRegistry } from "./approvals.ts";
import { digestOf } from "./requester.ts";
import { cut, oneLine, shortened, wellFormed } from "./plain-text.ts";
import type { ApprovalKey, ApprovalRequest, ShownChange, ToolCallDetail } from "./types.ts";
import { diff } from "node:util";

/** Structurally the agent's `AskPerson`. */
export type AskForTool = (question: ToolQuestion, signal: AbortSignal) => Promise<ToolAnswer>;

export interface ToolQuestion {
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  readonly reason: string;
  readonly agent: string;
  readonly command?: string;
  readonly folder?: string;
  readonly change?: FileChange;
  readonly lasting: LastingOffers;
}

/** Structurally the agent's. */
interface LastingOffers extends Pick<ApprovalOffers, "conversation" | "reason"> {
  readonly always?: OfferedPattern & { readonly rule: object };
}

export interface ToolAnswer {
  readonly approved: boolean;
  readonly isRejected?: boolean;
  readonly feedback?: string;
}

export interface AskForToolDeps {
  readonly approvals: Pick<ApprovalRegistry, "request" | "settled" | "get" | "cancelIn" | "expire">;
  readonly store: Pick<Store, "write">;
  /** Takes the configured secrets out of the input that people are shown. */
  readonly redact: (text: string) => string;
  /** `approvals.tool_timeout_secs`, as it is in force now. */
  readonly timeoutMs: () => number;
  /** Whether a turn that was called off for this reason goes on in the next process: its question goes on waiting. */
  readonly isPostponed: (reason: unknown) => boolean;
  /** Whose turn it is, and where it is asked; the page and the command line ask always. */
  readonly placeOf: (question: ToolQuestion) => {
    readonly askedBy: string;
    readonly asker?: string;
    readonly conversations: readonly Conversation[];
  };
  /** Called once it waits: from here on it can be answered. */
  readonly onWaiting?: () => void;
}

const MAX_INPUT_CHARS = 4_000;

/** What was asked before, by this process or the last, is not asked again. */
export function askForTool(parts: AskForToolDeps): AskForTool {
  return async (question, signal) => {
    const { approvals } = parts;
    const request = requestOf(parts, question);
    const before = approvals.get(request);
    if (before && before.digest !== digestOf(request)) return ANOTHER;
    if (before && before.status !== "waiting") return answerOf(before);
    signal.throwIfAborted();
    await approvals.request(request);
    parts.onWaiting?.();
    try {
      return answerOf(await approvals.settled(request, signal));
    } catch (error) {
      if (signal.aborted) await callOff(parts, request, signal.reason);
      throw error;
    }
  };
}

/** A yes to one call is none to another, whatever the model calls it. */
const ANOTHER: ToolAnswer = {
  approved: false,
  isRejected: false,
  feedback: "another call of this turn was asked for under the same id, or a file that it names was changed since",
};

function requestOf({ redact, timeoutMs, placeOf }: AskForToolDeps, question: ToolQuestion): ApprovalRequest {
  const { turnId, callId, tool, input, reason } = question;
  return {
    runId: turnId,
    stepId: callId,
    origin: "tool",
    title: `May the agent run ${tool}?`,
    message: `${reason}\n\n${shortened(redact(JSON.stringify(input, null, 2)), MAX_INPUT_CHARS)}`,
    subject: { tool, input },
    detail: detailOf(question, redact),
    offers: offersOf(question.lasting, redact),
    expireMs: timeoutMs(),
    ...placeOf(question),
  };
}

const answerOf = ({ status, answer }: Approval): ToolAnswer => {
  const feedback = status === "approved" || status === "rejected" ? answer?.feedback : answer?.by;
  return {
    approved: status === "approved",
    ...(status !== "approved" && status !== "rejected" && { isRejected: false }),
    ...(feedback !== undefined && { feedback }),
  };
};

/** A rule with a secret in it would be shown to many and stand in the config. */
function offersOf({ conversation, always, reason }: LastingOffers, redact: (text: string) => string): ApprovalOffers {
  const isOpen = ({ text }: OfferedPattern): boolean => redact(text) === text;
  if ([conversation, always].some((pattern) => pattern && !isOpen(pattern))) {
    return { reason: "The call has a secret of the config in it." };
  }
  return {
    ...(conversation && { conversation }),
    ...(always && { always: { ...always, rule: always.rule as Json } }),
    ...(reason !== undefined && { reason }),
  };
}

async function callOff(
  { approvals, store, isPostponed }: AskForToolDeps,
  key: ApprovalKey,
  reason: unknown,
): Promise<void> {
  if (isPostponed(reason)) return;
  if (reason instanceof SvcError && reason.code === "TOOL_REFUSED") return approvals.expire(key);
  const pending = await store.write(() => approvals.cancelIn(key, "the turn that asked for it is over"));
  pending?.committed();
}

/** A tool call as people are shown it: without secrets, bounded, and a file's change as its lines. */
interface DetailedQuestion {
  readonly tool: string;
  readonly agent: string;
  readonly reason: string;
  readonly input: Json;
  readonly command?: string;
  readonly folder?: string;
  readonly change?: FileChange;
}

type Redact = (text: string) => string;

const MAX = { command: 16_384, input: 8_192, summary: 300, path: 1_024 } as const;

export function detailOf(question: DetailedQuestion, redact: Redact): ToolCallDetail {
  const { tool, agent, reason, input, command, folder, change } = question;
  const described = new Set<unknown>([command, folder, change?.path, change?.mode, change?.written]);
  const rest = isObject(input) ? Object.entries(input).filter(([, value]) => !described.has(value)) : [];
  const shown = command === undefined && change === undefined ? input : Object.fromEntries(rest);
  const hasInput = !isObject(shown) || Object.keys(shown).length > 0;
  return {
    tool,
    agent,
    reason: redact(reason),
    summary: cut(oneLine(redact(summaryOf(question))), MAX.summary),
    ...(command !== undefined && { command: shortened(wellFormed(redact(command)), MAX.command) }),
    ...(folder !== undefined && folder !== "." && { folder: cut(wellFormed(redact(folder)), MAX.path) }),
    ...(change && { change: shownChange(change, redact) }),
    ...(hasInput && { input: shortened(wellFormed(redact(JSON.stringify(shown, null, 2))), MAX.input) }),
  };
}

function summaryOf({ tool, command, folder, change, input }: DetailedQuestion): string {
  if (command !== undefined) return folder === undefined || folder === "." ? command : `${command} (in ${folder})`;
  if (change) return `${change.mode} ${change.path}, ${Buffer.byteLength(change.written)} bytes`;
  return `${tool} ${JSON.stringify(input)}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** More lines are not compared: the time grows with their product. */
const MAX_COMPARED = 1_000;
const MAX_SHOWN = 400;
const MAX_LINE_CHARS = 1_000;
/** Lines that stay, beside each that does not. */
const CONTEXT = 3;

function shownChange({ path, mode, before, written }: FileChange, redact: Redact): ShownChange {
  const old = before.kind === "text" && mode === "replace" ? linesOf(redact(before.text)) : [];
  const all = compared(old, linesOf(redact(written)));
  const folded = withoutFar(all);
  const lines = folded.slice(0, MAX_SHOWN).map((line) => cut(line, MAX_LINE_CHARS));
  const count = (mark: string): number => all.filter((line) => line.startsWith(mark)).length;
  return {
    path: cut(wellFormed(redact(path)), MAX.path),
    mode,
    before: before.kind,
    lines,
    added: count("+"),
    removed: count("-"),
    cut: folded.length - lines.length,
  };
}

/** Without the empty one behind the last line break. */
function linesOf(text: string): string[] {
  const lines = wellFormed(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** What both begin and end with is no work. */
function compared(before: readonly string[], after: readonly string[]): string[] {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const stays = (lines: readonly string[]): string[] => lines.map((line) => ` ${line}`);
  return [
    ...stays(before.slice(0, head)),
    ...changedLines(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...stays(before.slice(before.length - tail)),
  ];
}

function changedLines(before: readonly string[], after: readonly string[]): string[] {
  const isMuch = before.length > MAX_COMPARED || after.length > MAX_COMPARED;
  if (isMuch || before.length === 0 || after.length === 0) {
    return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  }
  // 1: only in its first list; -1: only in its second.
  return diff(before, after).map(([way, line]) => `${way === 0 ? " " : way === 1 ? "-" : "+"}${line}`);
}

/** Lines that stay, far from any that does not, become one `@`. */
function withoutFar(lines: readonly string[]): string[] {
  const isNear = new Uint8Array(lines.length);
  for (const [index, line] of lines.entries()) {
    if (line.startsWith(" ")) continue;
    isNear.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  }
  return lines.flatMap((line, index) => {
    if (isNear[index] === 1) return [line];
    return index === 0 || isNear[index - 1] === 1 ? ["@"] : [];
  });
}
