/** Messages of channels that answer an approval instead of going to the agent. */
import type { Inbound } from "@svc/contract";
import type { ApprovalOptions } from "./options.ts";
import { expired, outcomeText } from "./outcome.ts";
import { cut, oneLine } from "./plain-text.ts";
import { type Reading, readReply } from "./reply-reading.ts";
import type { Settler } from "./settler.ts";
import type { Approvals } from "./types.ts";

type Taken = ReturnType<Approvals["replies"]["take"]>;

export class Replies {
  readonly #options: ApprovalOptions;
  readonly #settler: Settler;

  constructor(options: ApprovalOptions, settler: Settler) {
    this.#options = options;
    this.#settler = settler;
  }

  takes(inbound: Inbound, receivedAtMs: number): boolean {
    return this.#read(inbound, receivedAtMs) !== undefined;
  }

  /** Inside a transaction. */
  take(inbound: Inbound, receivedAtMs: number): Taken {
    const reading = this.#read(inbound, receivedAtMs);
    if (!reading) return undefined;
    return reading.kind === "told" ? told(reading.text) : this.#answer(inbound, reading);
  }

  #read(inbound: Inbound, receivedAtMs: number): Reading | undefined {
    const { store, settings, clock } = this.#options;
    const nowMs = clock.now();
    const postOf = (delivery: number) => store.outbox.read(delivery);
    return readReply({ approvals: store.approvals, postOf, settings, nowMs, receivedAtMs }, inbound);
  }

  #answer(inbound: Inbound, { approval, approved, feedback }: Extract<Reading, { kind: "answer" }>): Taken {
    const { clock, settings } = this.#options;
    if (approval.expiresAtMs <= clock.now()) return told(expired(approval.expiresAtMs).message);
    const { conversation } = inbound;
    const status = approved ? "approved" : "rejected";
    const end = { status, by: nameOf(inbound), via: "chat", feedback, at: conversation } as const;
    const pending = this.#settler.settleIn(approval.n, end);
    if (!pending) return undefined;
    const text = outcomeText(pending.result, settings(conversation.channel).maxChars);
    return { text, committed: () => pending.committed() };
  }
}

const told = (text: string): Taken => ({ text, committed: () => undefined });

/** The name is the sender's own choice; the id is not. */
function nameOf({ sender, senderName, conversation }: Inbound): string {
  const name = cut(oneLine(senderName ?? ""), 60);
  const who = name === "" || name === sender ? sender : `${name} (${sender})`;
  return `${who} on ${conversation.channel}`;
}
