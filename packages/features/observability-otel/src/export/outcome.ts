/** How it went to send spans to a collector. */
export type Outcome =
  /** `rejected`: of those, spans that it says it did not take. */
  | { readonly kind: "taken"; readonly rejected: number }
  /** It will not take them, however often it is asked. */
  | { readonly kind: "refused"; readonly reason: Reason }
  /** Another time, perhaps. `retryAfterMs`: as it asked for. */
  | { readonly kind: "failed"; readonly reason: Reason; readonly retryAfterMs: number | undefined };

/** For the log: a status, or a code of the runtime's. Never a text of the collector's, which may quote what it was sent. */
export type Reason = string;

/**
 * What the exporter tells, in our terms. Statuses that may pass (429, 502, 503, 504) come from it without a status, after it
 * has tried them again; all others are for good, redirects among them.
 */
export function outcomeOf(
  error: Error | undefined,
  { rejected, retryAfterMs }: { readonly rejected: number; readonly retryAfterMs: number | undefined },
): Outcome {
  if (error === undefined) return { kind: "taken", rejected };
  const code: unknown = "code" in error ? error.code : undefined;
  if (typeof code === "number") return { kind: "refused", reason: `status ${code}` };
  const isNamed = typeof code === "string" && /^[A-Z][A-Z0-9_]{0,63}$/.test(code);
  return { kind: "failed", reason: isNamed ? code : "unavailable", retryAfterMs };
}
