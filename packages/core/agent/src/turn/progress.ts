import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { PartialAnswer } from "@svc/store";
import type { Meter } from "../money/meter.ts";

/** What a turn has done so far; complete even when it ends by an error. */
export interface TurnProgress {
  readonly id: string;
  /** The messages this turn adds to the conversation. */
  messages: LanguageModelV4Message[];
  readonly meter: Meter;
  /** An acting tool was started. */
  acted: boolean;
  /** What was told of an answer that is not in `messages` yet. */
  partial: PartialAnswer | undefined;
  /** The write that ends it, from when it was asked for. */
  ending?: Promise<unknown>;
}
