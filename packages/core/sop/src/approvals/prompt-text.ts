/** A question to a person in plain words, and how it ended. The one who asks must not be able to write its frame. */
import { createHash } from "node:crypto";
import { type ApprovalEvent, type Prompt, SvcError } from "@svc/contract";
import type { Approval, ApprovalStatus } from "@svc/store";
import { cut, oneLine, quoted } from "./plain-text.ts";

export interface PromptFrame {
  /** Somebody may answer there. */
  readonly hasApprovers: boolean;
  /** The command that changes it, where nobody may. */
  readonly addApprover?: string;
  /** Longest text of one message there. */
  readonly maxChars: number;
}

type Asked = Pick<
  Approval,
  "n" | "title" | "message" | "askedBy" | "expiresAtMs" | "approveKeywords" | "rejectKeywords"
>;

/** What was handed in stands behind `>`, as much of it as leaves room for how to answer. */
export function promptText(approval: Asked, frame: PromptFrame): string {
  const { n, expiresAtMs } = approval;
  const { hasApprovers, maxChars, addApprover } = frame;
  const head = `${needed(n)}. ${askedFor(approval)}`;
  const how = hasApprovers ? howToAnswer(approval) : noApprovers(n, addApprover);
  const tail = `${how}\nWithout an answer it expires at ${utc(expiresAtMs)}.`;
  const room = maxChars - head.length - tail.length - 2;
  if (room < LEAST_BODY) return shortText(approval, frame);
  const body = bodyOf(approval);
  return [head, body.length <= room ? body : `${cut(body, room - CUT.length)}${CUT}`, tail].join("\n");
}

/**
 * What its buttons hand back. The number alone would let the buttons of another installation's question answer this one: a home
 * that was made anew or restored counts its questions from an earlier number, and old buttons stay in the chats.
 */
export function promptIdOf({ n, runId, stepId, createdAtMs }: PromptKey): string {
  const digest = createHash("sha256").update(JSON.stringify([runId, stepId, createdAtMs]));
  return `ap-${n}-${digest.digest("hex").slice(0, 8)}`;
}

type PromptKey = Pick<Approval, "n" | "runId" | "stepId" | "createdAtMs">;

/** The same for a question with buttons, which say how it is answered. */
export const promptParts = (approval: Asked): Pick<Prompt, "title" | "message"> => ({
  title: needed(approval.n),
  message: `${askedFor(approval)}\n${bodyOf(approval)}`,
});

const needed = (n: number): string => `Approval needed (#${n})`;
const askedFor = ({ askedBy }: Asked): string => `Asked for by ${cut(oneLine(askedBy), MAX_NAME)}:`;
const bodyOf = ({ title, message }: Asked): string => quoted(message.trim() === "" ? title : `${title}\n\n${message}`);

/** To the minute. */
const utc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** e.g. `"approve" or "yes"`. */
export const inWords = (keywords: readonly string[]): string =>
  keywords
    .slice(0, MAX_WORDS)
    .map((keyword) => `"${oneLine(keyword).replaceAll('"', "'")}"`)
    .join(" or ");

const MAX_NAME = 80;
/** Shown; all of them count. */
const MAX_WORDS = 4;
const LEAST_BODY = 100;
const CUT = "\n> [cut: all of it is on the page]";

const noApprovers = (n: number, command: string | undefined): string =>
  [
    `No account may answer in this chat. ${byOperator(n)}`,
    ...(command === undefined ? [] : [`To have one answer here, an operator runs: ${command}`]),
  ].join("\n");

function howToAnswer({ n, approveKeywords, rejectKeywords }: Asked): string {
  if (approveKeywords.length + rejectKeywords.length === 0) return `No word answers it here. ${byOperator(n)}`;
  const ways = [
    ...(approveKeywords.length > 0 ? [`To approve, write ${inWords(approveKeywords)}.`] : []),
    ...(rejectKeywords.length > 0 ? [`To reject, write ${inWords(rejectKeywords)}.`] : []),
    `What you write behind it goes along. Where several wait, name it: ${example(approveKeywords, rejectKeywords, n)}.`,
  ];
  const isWhole = approveKeywords.length > 0 && rejectKeywords.length > 0;
  return [...ways, ...(isWhole ? [] : [byOperator(n)])].join(" ");
}

/** e.g. `"approve #12"`. */
export const example = (approve: readonly string[], reject: readonly string[], n: number): string =>
  inWords([`${approve[0] ?? reject[0] ?? "approve"} #${n}`]);

const byOperator = (n: number): string =>
  `An operator can, on the page or with: svc approvals approve ${n} (or: reject ${n}).`;

/** Where messages are short: a line that fits. */
function shortText(
  { n, title, approveKeywords, rejectKeywords }: Asked,
  { hasApprovers, maxChars }: PromptFrame,
): string {
  const words = [approveKeywords[0], rejectKeywords[0]].filter((word) => word !== undefined);
  const how = hasApprovers && words.length > 0 ? `Write ${inWords(words)}.` : "An operator has to answer.";
  const room = maxChars - `#${n} needs approval: "" ${how}`.length;
  const name = room > 0 ? `"${cut(oneLine(title).replaceAll('"', "'"), room)}" ` : "";
  return cut(`#${n} needs approval: ${name}${how}`, maxChars);
}

/** How an approval ended, in words. */
type Ended = Exclude<ApprovalStatus, "waiting">;

/** e.g. `#12 ("Deploy?"): approved by alice.`, and the feedback. */
export function outcomeText(approval: Approval, maxChars: number): string {
  const { n, title, answer } = approval;
  const line = `#${n} (${inWords([cut(title, MAX_TITLE)])}): ${outcomeOf(approval)}.`;
  const feedback = answer!.feedback;
  return cut(feedback === undefined ? line : `${line}\n${quoted(cut(feedback, MAX_FEEDBACK))}`, maxChars);
}

/** Why a later answer does not count. */
export function refusalOf(approval: Approval): SvcError {
  const { status, answer } = approval;
  if (status === "expired") return expired(answer!.atMs);
  return new SvcError("APPROVAL_RESOLVED", `It is over already: ${outcomeOf(approval)}, at ${utc(answer!.atMs)}.`);
}

export const expired = (atMs: number): SvcError =>
  new SvcError("APPROVAL_EXPIRED", `No answer in time: it expired at ${utc(atMs)}.`);

export function resolvedEvent({ runId, stepId, status, answer }: Approval): ApprovalEvent {
  return {
    type: "human_approval_resolved",
    runId,
    stepId,
    approved: status === "approved",
    outcome: status as Ended,
    feedback: answer!.feedback,
    by: answer!.by,
  };
}

export function requestEvent(approval: Approval): ApprovalEvent {
  const { runId, stepId, origin, title, message, channels, approveKeywords, rejectKeywords, expiresAtMs } = approval;
  const words = { approveKeywords, rejectKeywords };
  return { type: "human_approval_request", runId, stepId, origin, title, message, channels, ...words, expiresAtMs };
}

const MAX_TITLE = 80;
const MAX_FEEDBACK = 500;

function outcomeOf({ status, answer }: Approval): string {
  const { by, via } = answer!;
  const who = `${by}${PLACES[via]}`;
  const outcomes: Record<Ended, string> = {
    approved: `approved by ${who}`,
    rejected: `rejected by ${who}`,
    expired: "not approved: no answer in time",
    cancelled: `called off: ${by}`,
  };
  return outcomes[status as Ended];
}

/** Where it is not plain from who it was. */
const PLACES = { chat: "", api: " by the API", page: " on the page", cli: "", agent: "", service: "" } as const;
