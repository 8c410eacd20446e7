/** Why a robot stopped, or was not let go, and which layer said so. */

export type StopReason =
  /** The distance or the time of the request is over. */
  | "done"
  | "stop_requested"
  /** The request's caller gave up, such as a turn that was cancelled. */
  | "cancelled"
  /** Another request came during the movement. */
  | "conflict"
  /** Reload, shutdown: the monitor went out of service. */
  | "out_of_service"
  | "monitor_failed"
  | "sensor_stale"
  | "sensor_frozen"
  | "obstacle"
  | "bump"
  | "time_limit"
  | "late"
  | "time_jump"
  | "board_lost"
  | "emergency_stop";

export type RefusalReason =
  | "latched"
  | "conflict"
  | "not_monitored"
  | "not_recorded"
  | "sensor_stale"
  | "obstacle"
  | "bump"
  | "blind";

export interface StopCause {
  readonly reason: StopReason;
  /** For a person and the model, a sentence. */
  readonly message: string;
  /** The safety layer, 1 to 5. */
  readonly layer?: 1 | 2 | 3 | 4 | 5;
}

export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
}
