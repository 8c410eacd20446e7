/** The channel's loop: who we are first, then updates, or in webhook mode the end. */
import type { Contributions, FeatureContext } from "@svc/contract";
import { asFinal, checkFailureOf, runChannel } from "@svc/kit";
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
      if (!signal.aborted) throw asFinal(checkFailureOf(error));
    }
  };
}
