/** What happens inside, as told to observers and subscribers. Types are noun-verb and stable. */
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

export type SvcEvent = TurnEvent;

/** Sees every event. Never throws, never blocks. */
export interface Observer {
  record(event: SvcEvent): void;
}
