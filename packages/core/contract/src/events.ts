/** What happens inside, as told to observers and subscribers. Types are noun-verb and stable. */
import type { Conversation } from "./channel.ts";
import type { ErrorCode } from "./error-codes.ts";
import type { ClientId } from "./identity.ts";

export type TurnEvent =
  | {
      readonly type: "turn-start";
      readonly turnId: string;
      /** Name of the agent that answers. */
      readonly agent: string;
      readonly sessionId: string;
      readonly clientId: ClientId;
    }
  | { readonly type: "text-delta"; readonly turnId: string; readonly text: string }
  | { readonly type: "tool-call"; readonly turnId: string; readonly callId: string; readonly tool: string }
  | {
      readonly type: "tool-result";
      readonly turnId: string;
      readonly callId: string;
      readonly tool: string;
      readonly ok: boolean;
    }
  | {
      readonly type: "turn-end";
      readonly turnId: string;
      /** Name of the agent that answered. */
      readonly agent: string;
      readonly ok: boolean;
      readonly model: string;
      readonly durationMs: number;
      readonly inputTokens: number;
      readonly outputTokens: number;
      /** US dollars; undefined when the model's price is unknown. */
      readonly costUsd: number | undefined;
    };

export type MessageEvent =
  | {
      /** A message is on disk, and its sender may write. */
      readonly type: "message-received";
      /** As `svc inbox` shows it, e.g. `in-12`. */
      readonly messageId: string;
      readonly conversation: Conversation;
      readonly sender: string;
      /** The turn that will answer it. */
      readonly turnId: string;
    }
  | {
      /** The platform has accepted what we sent. */
      readonly type: "message-delivered";
      /** e.g. `out-12`. */
      readonly messageId: string;
      readonly conversation: Conversation;
      readonly turnId: string | undefined;
      readonly attempts: number;
    }
  | {
      /** A message could not be answered (`in-…`), or an answer not be delivered (`out-…`), and nobody tries again. */
      readonly type: "message-failed";
      readonly messageId: string;
      readonly conversation: Conversation;
      readonly turnId: string | undefined;
      readonly code: ErrorCode;
    };

export type SvcEvent = TurnEvent | MessageEvent;

/** Sees every event. Never throws, never blocks. */
export interface Observer {
  record(event: SvcEvent): void;
}
