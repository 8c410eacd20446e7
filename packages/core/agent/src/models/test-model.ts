/** What one tiny model call tells about the model of an agent. */
import type { ErrorCode } from "@svc/contract";

export interface ModelTest {
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  readonly ok: boolean;
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined when the price is unknown or the provider does not count tokens. */
  readonly costUsd: number | undefined;
  readonly priceKnown: boolean;
  readonly error?: { readonly code: ErrorCode; readonly message: string; readonly hint?: string };
}
