/** Messages of channels that answer an approval instead of going to the agent. */
import type { Inbound } from "@svc/contract";
import type { Approval } from "@svc/store";
import { matchKeyword } from "./keywords.ts";
import { isApprover } from "./approver.ts";
import type { ApprovalOptions } from "./options.ts";
import { expired, outcomeText, refusalOf } from "./outcome.ts";
import { oneLine } from "./plain-text.ts";
import { type Reading, readReply, wasAskedIn } from "./reply-reading.ts";
import type { Settler } from "./settler.ts";
import type { Approvals } from "./types.ts";

/** So long somebody who was outrun is told so. */
const RACE_MS = 60_000;
const MOST_RACES = 50;

type Taken = ReturnType<Approvals["replies"]["take"]>;

export class Replies {
  readonly #options: ApprovalOptions;
  readonly #settler: Settler;

  constructor(options: ApprovalOptions, settler: Settler) {
    this.#options = options;
    this.#settler = settler;
  }

  takes(inbound: Inbound): boolean {
    return this.#read(inbound) !== undefined;
  }

  /** Inside a transaction. */
  take(inbound: Inbound): Taken {
    const reading = this.#read(inbound);
    if (reading?.kind === "told") return told(reading.text);
    if (reading?.kind === "answer") return this.#answer(inbound, reading);
    // It answered something when it came, and somebody else was quicker.
    const outrun = this.#outrunBy(inbound);
    return outrun && told(refusalOf(outrun).message);
  }

  #read(inbound: Inbound): Reading | undefined {
    const { store, settings, clock } = this.#options;
    return readReply({ approvals: store.approvals, settings, nowMs: clock.now() }, inbound);
  }

  #answer(inbound: Inbound, { approval, approved, feedback }: Extract<Reading, { kind: "answer" }>): Taken {
    const { clock, settings, redact } = this.#options;
    if (approval.expiresAtMs <= clock.now()) return told(expired(approval.expiresAtMs).message);
    const { conversation } = inbound;
    const status = approved ? "approved" : "rejected";
    const end = { status, by: nameOf(inbound), via: "chat", feedback, at: conversation } as const;
    const pending = this.#settler.settleIn(approval.n, end);
    if (!pending) return undefined;
    const text = outcomeText(pending.result, settings(conversation.channel).maxChars, redact);
    return { text, committed: () => pending.committed() };
  }

  #outrunBy({ conversation, sender, text }: Inbound): Approval | undefined {
    const { store, settings, clock } = this.#options;
    if (!isApprover(settings(conversation.channel).approvers, sender)) return undefined;
    return store.approvals
      .endedSince(clock.now() - RACE_MS, MOST_RACES)
      .find((approval) => wasAskedIn(approval, conversation) && matchKeyword(text, approval) !== undefined);
  }
}

const told = (text: string): NonNullable<Taken> => ({ text, committed: () => undefined });

/** The name is the sender's own choice; the id is not. */
function nameOf({ sender, senderName, conversation }: Inbound): string {
  const name = oneLine(senderName ?? "").slice(0, 60);
  const who = name === "" || name === sender ? sender : `${name} (${sender})`;
  return `${who} on ${conversation.channel}`;
}
