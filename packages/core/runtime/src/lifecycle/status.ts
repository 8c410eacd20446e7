/** How a feature is, as `svc features`, `GET /api/features` and `/health` tell it. */
import { SvcError, type Clock } from "@svc/contract";

/**
 * `constructed` made, not yet registered; `running` in service; `waiting` its loop failed and starts again after a
 * back-off; `failed` disabled until the next start; `stopped` its loop ended by itself, or the service shut it down.
 */
export type FeatureState = "constructed" | "running" | "waiting" | "failed" | "stopped";

export interface FeatureStatus {
  readonly id: string;
  readonly state: FeatureState;
  /** Why it waits or failed. Redacted. */
  readonly reason?: string;
  /** Why it last waited or failed; it stays when all is well again, and over a reload. Redacted. */
  readonly lastError?: PastError;
  /** Times its loop was started again. */
  readonly restarts: number;
  /** Milliseconds since the epoch of the last change of state. */
  readonly since: number;
  /** Events its observer threw on. */
  readonly observerErrors: number;
}

export interface PastError {
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The one writable record behind a `FeatureStatus`. */
export class Health {
  restarts = 0;
  observerErrors = 0;
  readonly #id: string;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  #state: FeatureState = "constructed";
  #reason: string | undefined;
  #lastError: PastError | undefined;
  #since: number;

  /** `onChange`: the state is another one. */
  constructor(id: string, clock: Clock, onChange: () => void = () => {}) {
    this.#id = id;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#since = clock.now();
  }

  get state(): FeatureState {
    return this.#state;
  }

  /** `reason`: only of what waits or failed. */
  become(state: FeatureState, reason?: string): void {
    const isAnother = state !== this.#state;
    if (isAnother) this.#since = this.#clock.now();
    this.#state = state;
    this.#reason = reason;
    if (reason !== undefined) this.#lastError = Object.freeze({ reason, at: this.#clock.now() });
    if (isAnother) this.#onChange();
  }

  /** What is known of the one before it. */
  succeed({ lastError }: Pick<FeatureStatus, "lastError">): void {
    this.#lastError ??= lastError;
  }

  snapshot(): FeatureStatus {
    return Object.freeze({
      id: this.#id,
      state: this.#state,
      ...(this.#reason !== undefined && { reason: this.#reason }),
      ...(this.#lastError && { lastError: this.#lastError }),
      restarts: this.restarts,
      since: this.#since,
      observerErrors: this.observerErrors,
    });
  }
}

const LONGEST_REASON = 300;

/** A thrown value as one short, redacted sentence. Features throw what they like, a platform's words included. */
export function reasonOf(thrown: unknown, redact: (text: string) => string): string {
  const words = redact(messageOf(thrown))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
  return words.length > LONGEST_REASON ? `${words.slice(0, LONGEST_REASON)}…` : words || "no reason given";
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof SvcError && thrown.hint !== undefined) return `${thrown.message} ${thrown.hint}`;
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "";
  }
}
