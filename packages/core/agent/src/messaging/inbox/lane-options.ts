/** What lanes do with the messages in them. */
import type { WaitingMessage } from "@svc/store";
import type { Aside } from "./asides.ts";
import type { HoldOptions } from "./held-lanes.ts";

/** What comes of an attempt: the message is over, or it is tried again after a rest. */
export type Attempted = "over" | { readonly restMs: number };

export interface LaneOptions extends HoldOptions {
  /** Never rejects. */
  readonly attempt: (message: WaitingMessage, leave: Leave) => Promise<Attempted>;
  readonly maxParallel: number;
}

/**
 * What an attempt does without its place, which others have meanwhile. What goes on after it may for a moment be more than the
 * limit; turns have a limit of their own.
 */
export interface Leave {
  readonly aside: Aside;
  /** Waits for a person. However many do: four that nobody answers would stop everybody. */
  readonly asking: Aside;
}
