/** An answer that people see being written, as far as its channel can show that (`Channel.drafts`). */
import type { Channel } from "@svc/contract";
import type { NewDelivery } from "@svc/store";
import type { TurnWatcher } from "../../types.ts";
import type { AnswerParts } from "../inbox/answer-rows.ts";
import type { Attempt } from "../inbox/attempt.ts";
import type { InboxParts } from "../inbox/parts.ts";
import { Draft } from "./draft.ts";
import { ParagraphSender } from "./paragraph-sender.ts";

export interface Writing extends TurnWatcher {
  /** The platform's id of what an answer, or an apology, takes the place of. */
  readonly draft: string | undefined;
  /** The answer is whole, and shown no more while it is written. What is still to be sent of it. */
  rows(response: string): Promise<readonly NewDelivery[]>;
  /** There is no answer. Resolves when what is under way has ended, or was called off. Never rejects. */
  end(): Promise<void>;
}

/** What an answer is made with; asked for when it is, since a reload may change it while it is written. */
export type AnswerSource = () => AnswerParts;

/** Undefined where the channel shows nothing. */
export function writingOf(
  parts: InboxParts,
  attempt: Attempt,
  channel: Channel,
  source: AnswerSource,
): Writing | undefined {
  const { drafts } = channel;
  if (!drafts) return undefined;
  if (drafts.mode === "multi_message") return new ParagraphSender(parts, attempt, source);
  return new Draft(parts, attempt, { channel, drafts, source });
}
