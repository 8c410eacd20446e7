/** Events of features that start procedures: messages of a broker, signals of boards. */

export interface TriggerEvent {
  /** The type of the triggers that it meets. */
  readonly source: "mqtt" | "peripheral";
  /** The topic of a message, or `board/signal`. */
  readonly topic: string;
  /** JSON text; null: none. */
  readonly payload: string | null;
}

/** Written in the same transaction as the runs. */
export interface TriggeredWith {
  /** As by `FeatureContext.state.set`, by name. Not written where no trigger fits. */
  readonly state?: Readonly<Record<string, string>>;
}

export interface Triggered {
  /** Some trigger fits, its condition included. */
  readonly fits: boolean;
  readonly runs: readonly { readonly sop: string; readonly runId: string }[];
  /** Procedures that fit and may not start now, with the reason, such as `cooldown`. */
  readonly skipped: readonly { readonly sop: string; readonly reason: string }[];
}
