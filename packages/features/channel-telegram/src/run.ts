/** The channel's loop: who we are first, then updates, or in webhook mode the end. */
import { type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { asCheckFailure, runChannel } from "@svc/kit";
import type { Polling } from "./incoming/polling.ts";

export interface RunParts {
  readonly check: (signal: AbortSignal) => Promise<string>;
  /** Undefined in webhook mode. */
  readonly polling: Polling | undefined;
  readonly context: Pick<FeatureContext, "log">;
}

export function runOf({ check, polling, context }: RunParts): NonNullable<Contributions["run"]> {
  if (polling === undefined) return (signal) => runChannel(check, context.log, signal);
  return async (signal) => {
    try {
      signal.throwIfAborted();
      context.log.info("the platform knows this channel", { account: await check(signal) });
      await polling(signal);
    } catch (error) {
      if (!signal.aborted) throw asFinal(error);
    }
  };
}

/** A token that is refused stays so until the config changes. */
function asFinal(error: unknown): unknown {
  if (!(error instanceof SvcError)) return error;
  if (error.code === "CHANNEL_UNAUTHORIZED") {
    return new SvcError("FEATURE_FAILED", error.message, { cause: error, ...(error.hint && { hint: error.hint }) });
  }
  try {
    return asCheckFailure(error);
  } catch (failure) {
    return failure;
  }
}
