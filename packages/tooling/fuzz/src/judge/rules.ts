/** What all judges go by. */

export interface Rules {
  /** Texts that never leave the service. */
  readonly secrets: readonly string[];
}

/** The only ways in which a server may say that it, and not the caller, is the reason. */
export const DOCUMENTED: ReadonlySet<string> = new Set(["DRAINING", "BUSY", "STORE_FULL", "STORE_FAILED"]);
