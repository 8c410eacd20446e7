/** What deliveries are made with. */
import type { Clock, Logger, MessageEvent, PostedPrompt } from "@svc/contract";
import type { Instruments } from "@svc/kernel";
import type { Store } from "@svc/store";
import type { MessagingSettings, PromptSource } from "../types.ts";
import type { FileOpener } from "./outgoing-file.ts";
import type { SpokenAnswers } from "./spoken-file.ts";

export interface DispatcherOptions {
  readonly store: Pick<Store, "outbox" | "write" | "writable">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly instruments: Instruments;
  readonly publish: (event: MessageEvent) => void;
  readonly openFile: FileOpener;
  readonly spoken: SpokenAnswers;
  /** What deliveries with an `approval` ask. Without it they are messages like any other. */
  readonly prompts?: PromptSource | undefined;
  /** Takes the buttons off a question that was settled while it was being posted. */
  readonly closePrompt?: (posted: PostedPrompt, outcome: string) => void;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random: () => number;
  readonly settings: DeliverySettings;
}

export type DeliverySettings = Pick<MessagingSettings, "channels" | "isUp" | "maxAttempts">;
