/** What a message in a conversation means for what waits there. Reads, and changes nothing. */
import type { Conversation, Inbound } from "@svc/contract";
import { isAllowed, keyOfConversation } from "@svc/kit";
import type { Approval, Delivery, Store } from "@svc/store";
import { type KeywordMatch, matchKeyword } from "./keywords.ts";
import type { ChannelAnswers } from "./types.ts";
import { example, inWords, promptIdOf, refusalOf } from "./prompt-text.ts";
import { cut } from "./plain-text.ts";

export interface ReadingDeps {
  readonly approvals: Pick<Store["approvals"], "read" | "waitingIn" | "endedSince">;
  /** What became of a message of ours. */
  readonly postOf: (delivery: number) => Pick<Delivery, "state" | "platformId"> | undefined;
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
export function readReply(parts: ReadingDeps, inbound: Inbound): Reading | undefined {
  if (inbound.kind === "reaction" || inbound.secondHand) return undefined;
  if (inbound.choice) return readChoice(parts, inbound, inbound.choice);
  const { conversation, sender } = inbound;
  if (!isApprover(parts.settings(conversation.channel).approvers, sender)) return undefined;
  return readNumber(parts, inbound) ?? readWord(parts, inbound);
}

/** A clock that was set back since makes no question a later one. */
const wasSeen = ({ receivedAtMs, nowMs }: ReadingDeps, { createdAtMs }: Approval): boolean =>
  createdAtMs <= receivedAtMs || createdAtMs > nowMs;

/** Platforms tell whole seconds, and their clocks are not ours. */
const CLOCKS_MS = 2_000;

/** Whether it was written before the question and came late. A clock that was set back since makes no question a later one. */
const isOlder = ({ nowMs }: ReadingDeps, { sentAtMs }: Inbound, { createdAtMs }: Approval): boolean =>
  sentAtMs !== undefined && sentAtMs + CLOCKS_MS < createdAtMs && createdAtMs <= nowMs;

/** Where the question was asked in this conversation, or has opened it. */
function promptsIn({ prompts }: Approval, conversation: Conversation): Approval["prompts"] {
  const here = keyOfConversation(conversation);
  return prompts.filter(
    ({ conversation: asked, opened }) =>
      keyOfConversation(asked) === here || (opened !== undefined && keyOfConversation(opened) === here),
  );
}

const wasAskedIn = (approval: Approval, conversation: Conversation): boolean =>
  promptsIn(approval, conversation).length > 0;

/**
 * Whether it replies to another message than the question, as far as the platform tells. A question whose sending the platform
 * has not confirmed can't be what a person has replied to; its id comes with the confirmation.
 */
function repliesElsewhere({ postOf }: ReadingDeps, { repliesTo, conversation }: Inbound, approval: Approval): boolean {
  if (repliesTo === undefined) return false;
  return !promptsIn(approval, conversation).some(({ delivery }) => {
    const post = postOf(delivery);
    return post?.platformId === undefined ? post?.state === "sent" : post.platformId === repliesTo;
  });
}

/** A reply that fits the keywords of an approval. */
interface Meant extends KeywordMatch {
  readonly approval: Approval;
  /** `approve #12`: the number that it names. */
  readonly named: number | undefined;
}

/** A number that stands alone is a name without its mark, too: `approve 12` must not answer #13. */
const NUMBER = /^(?:#(\d{1,15})(?:[.,:;!]?(?=\s)|[.,:;!]?$)|(\d{1,15})[.,:;!]?$)/;

function meant(text: string, approval: Approval): Meant | undefined {
  const match = matchKeyword(text, approval);
  if (!match) return undefined;
  const number = NUMBER.exec(match.feedback);
  if (!number) return { ...match, approval, named: undefined };
  const feedback = match.feedback.slice(number[0].length).trim();
  return { approved: match.approved, feedback, approval, named: Number(number[1] ?? number[2]) };
}

/** `approve #12`, where #12 was asked. */
function readNumber(parts: ReadingDeps, { conversation, text }: Inbound): Reading | undefined {
  const number = /(?:^|\s)#(\d{1,15})(?=[\s.,:;!]|$)/.exec(text);
  const approval = number ? parts.approvals.read(Number(number[1])) : undefined;
  if (!approval || !wasAskedIn(approval, conversation) || !wasSeen(parts, approval)) return undefined;
  const words = meant(text, approval);
  if (words?.named !== approval.n) return undefined;
  return approval.status === "waiting" ? answer(words) : { kind: "told", text: refusalOf(approval).message };
}

/** Looked at for one message. Where more wait, a number has to be said anyway. */
const MAX_OPEN = 50;

function readWord(parts: ReadingDeps, inbound: Inbound): Reading | undefined {
  const { conversation, text } = inbound;
  const open = parts.approvals.waitingIn(conversation, MAX_OPEN);
  const all = open.filter((each) => wasSeen(parts, each)).flatMap((approval) => meant(text, approval) ?? []);
  // One whose time is over stands in nobody's way; alone, it is said to be over.
  const live = all.filter(({ approval }) => approval.expiresAtMs > parts.nowMs);
  const fitting = live.length > 0 ? live : all;
  if (fitting.length === 0) return outrun(parts, inbound);
  const named = fitting.find((one) => one.named === one.approval.n);
  if (named) return answer(named);
  // A number that is not here was meant for another one, an old message for whatever was before the question.
  const [meantOne, ...others] = fitting.filter(
    (one) =>
      one.named === undefined &&
      !isOlder(parts, inbound, one.approval) &&
      !repliesElsewhere(parts, inbound, one.approval),
  );
  if (meantOne && others.length === 0 && open.length < MAX_OPEN) return answer(meantOne);
  return { kind: "told", text: whichOf(fitting.map(({ approval }) => approval)) };
}

const answer = ({ approval, approved, feedback }: Meant): Reading => ({ kind: "answer", approval, approved, feedback });

/** Somebody was quicker while the message was on its way: the last one that it would have answered then. */
function outrun({ approvals, receivedAtMs }: ReadingDeps, { conversation, text }: Inbound): Reading | undefined {
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
  { approvals, settings }: ReadingDeps,
  { conversation, sender }: Inbound,
  { prompt, approved }: NonNullable<Inbound["choice"]>,
): Reading | undefined {
  const number = /^ap-(\d{1,15})(?:-[0-9a-f]{8})?$/.exec(prompt);
  if (!number) return undefined;
  const approval = approvals.read(Number(number[1]));
  const isOurs = approval !== undefined && promptIdOf(approval) === prompt;
  if (!isOurs || !wasAskedIn(approval, conversation)) return { kind: "told", text: "This question is gone." };
  if (approval.status !== "waiting") return { kind: "told", text: refusalOf(approval).message };
  if (!isApprover(settings(conversation.channel).approvers, sender)) {
    return { kind: "told", text: "Nothing was answered: you are not among those who may answer here." };
  }
  return { kind: "answer", approval, approved, feedback: "" };
}

// Whether somebody may answer on a channel.

/**
 * As the channel's allowlist compares: numbers as numbers, addresses as addresses, other ids letter by letter. Everyone is never
 * an approver, whatever the list says.
 */
function isApprover(approvers: readonly string[], sender: string): boolean {
  const people = approvers.filter((entry) => entry.trim() !== "*");
  return isAllowed(people, sender, modeOf(sender));
}

/** Channels hand over numbers with `+`. What has a slash before the `@` is an account of some server, not an address. */
function modeOf(sender: string): "phone" | "email" | "exact" {
  if (/^\+[0-9]+$/.test(sender)) return "phone";
  return /^[^/]+@/.test(sender) ? "email" : "exact";
}
