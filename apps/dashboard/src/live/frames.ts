/** What comes by the WebSocket. */

export interface LiveEvent {
  /** `<boot>-<n>` */
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** How a message that this page sent was answered. */
export type ChatFrame =
  | { readonly type: "reply"; readonly response: string; readonly model: string; readonly session_id: string }
  | { readonly type: "error"; readonly code: string; readonly error: string; readonly session_id?: string };

export type Frame = LiveEvent | ChatFrame;
