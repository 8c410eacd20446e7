/** What comes by the WebSocket. */

export interface LiveEvent {
  /** `<boot>-<n>` */
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}
