/** What a message in a conversation means for what waits there. Reads, and changes nothing. */
import type { Conversation, Inbound } from "@svc/contract";
import { laneOf } from "@svc/kit";
import type { Approval, Store } from "@svc/store";
import { isApprover } from "./approver.ts";
import { type KeywordMatch, matchKeyword } from "./keywords.ts";
import type { ChannelAnswers } from "./options.ts";
import { refusalOf } from "./outcome.ts";
import { cut } from "./plain-text.ts";
import { example, inWords } from "./prompt-text.ts";

export interface ReadingParts {
  readonly approvals: Pick<Store["approvals"], "read" | "waitingIn" | "endedSince">;
  readonly settings: (channel: string) => ChannelAnswers;
  readonly nowMs: number;
  /** When the message came in. What was asked later is nothing that its sender has seen. */
  readonly receivedAtMs: number;
}

/** `told`: it was meant as an answer, but answers nothing; what its sender is told. */
export type Reading =
  | { readonly kind: "answer"; readonly approval: Approval; readonly approved: boolean; readonly feedback: string }
  | { readonly kind: "told"; readonly text: string };

/** Undefined: it is a message like any other. */
export function readReply(parts: ReadingParts, inbound: Inbound): Reading | undefined {
  if (inbound.kind === "reaction") return undefined;
  if (inbound.choice) return readChoice(parts, inbound, inbound.choice);
  const { conversation, sender } = inbound;
  if (!isApprover(parts.settings(conversation.channel).approvers, sender)) return undefined;
  return readNumber(parts, inbound) ?? readWord(parts, inbound);
}

/** A clock that was set back since makes no question a later one. */
const wasSeen = ({ receivedAtMs, nowMs }: ReadingParts, { createdAtMs }: Approval): boolean =>
  createdAtMs <= receivedAtMs || createdAtMs > nowMs;

/** Whether the question was asked in this conversation, or has opened it. */
function wasAskedIn({ prompts }: Approval, conversation: Conversation): boolean {
  const here = laneOf(conversation);
  return prompts.some(
    ({ conversation: asked, opened }) => laneOf(asked) === here || (opened !== undefined && laneOf(opened) === here),
  );
}

/** A reply that fits the keywords of an approval. */
interface Meant extends KeywordMatch {
  readonly approval: Approval;
  /** `approve #12`: the number that it names. */
  readonly named: number | undefined;
}

const NUMBER = /^#(\d{1,15})(?:[.,:;!]?(?=\s)|[.,:;!]?$)/;

function meant(text: string, approval: Approval): Meant | undefined {
  const match = matchKeyword(text, approval);
  if (!match) return undefined;
  const number = NUMBER.exec(match.feedback);
  if (!number) return { ...match, approval, named: undefined };
  const feedback = match.feedback.slice(number[0].length).trim();
  return { approved: match.approved, feedback, approval, named: Number(number[1]) };
}

/** `approve #12`, where #12 was asked. */
function readNumber(parts: ReadingParts, { conversation, text }: Inbound): Reading | undefined {
  const number = /(?:^|\s)#(\d{1,15})(?=[\s.,:;!]|$)/.exec(text);
  const approval = number ? parts.approvals.read(Number(number[1])) : undefined;
  if (!approval || !wasAskedIn(approval, conversation) || !wasSeen(parts, approval)) return undefined;
  const words = meant(text, approval);
  if (words?.named !== approval.n) return undefined;
  return approval.status === "waiting" ? answer(words) : { kind: "told", text: refusalOf(approval).message };
}

/** Looked at for one message. Where more wait, a number has to be said anyway. */
const MAX_OPEN = 50;

function readWord(parts: ReadingParts, inbound: Inbound): Reading | undefined {
  const { conversation, text } = inbound;
  const open = parts.approvals.waitingIn(conversation, MAX_OPEN);
  const all = open.filter((each) => wasSeen(parts, each)).flatMap((approval) => meant(text, approval) ?? []);
  // One whose time is over stands in nobody's way; alone, it is said to be over.
  const live = all.filter(({ approval }) => approval.expiresAtMs > parts.nowMs);
  const fitting = live.length > 0 ? live : all;
  const [first, ...others] = fitting;
  if (!first) return outrun(parts, inbound);
  // A number that is not here was meant for another one, and here is only one to take it for.
  const isOnlyOne = others.length === 0 && open.length < MAX_OPEN;
  if (isOnlyOne && first.named === undefined) return answer(first);
  return { kind: "told", text: whichOf(fitting.map(({ approval }) => approval)) };
}

const answer = ({ approval, approved, feedback }: Meant): Reading => ({ kind: "answer", approval, approved, feedback });

/** Somebody was quicker while the message was on its way: the last one that it would have answered then. */
function outrun({ approvals, receivedAtMs }: ReadingParts, { conversation, text }: Inbound): Reading | undefined {
  const ended = approvals
    .endedSince(receivedAtMs, MAX_RACES)
    .find(
      (approval) =>
        approval.createdAtMs <= receivedAtMs &&
        wasAskedIn(approval, conversation) &&
        meant(text, approval) !== undefined,
    );
  return ended && { kind: "told", text: refusalOf(ended).message };
}

const MAX_RACES = 50;
const MAX_LISTED = 10;

function whichOf(waiting: readonly Approval[]): string {
  const { n, approveKeywords, rejectKeywords } = waiting[0]!;
  return [
    `Nothing was answered. Say which one, for example ${example(approveKeywords, rejectKeywords, n)}:`,
    ...waiting.slice(0, MAX_LISTED).map(({ n: number, title }) => `#${number} ${inWords([cut(title, 80)])}`),
    ...(waiting.length > MAX_LISTED ? ["and more"] : []),
  ].join("\n");
}

/** A button names its question; who may not press it, or comes late, is told so. */
function readChoice(
  { approvals, settings }: ReadingParts,
  { conversation, sender }: Inbound,
  { prompt, approved }: NonNullable<Inbound["choice"]>,
): Reading | undefined {
  const number = /^ap-(\d{1,15})$/.exec(prompt);
  if (!number) return undefined;
  const approval = approvals.read(Number(number[1]));
  if (!approval || !wasAskedIn(approval, conversation)) return { kind: "told", text: "This question is gone." };
  if (approval.status !== "waiting") return { kind: "told", text: refusalOf(approval).message };
  if (!isApprover(settings(conversation.channel).approvers, sender)) {
    return { kind: "told", text: "Nothing was answered: you are not among those who may answer here." };
  }
  return { kind: "answer", approval, approved, feedback: "" };
}
