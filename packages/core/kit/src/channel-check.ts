/** What channels do with the platform's word on who they are there. */
import { type Channel, type Logger, SvcError } from "@svc/contract";

type Check = NonNullable<Channel["check"]>;

/**
 * `run` of a channel without its own loop: checks once, then waits for the shutdown. Refused credentials don't recover:
 * FEATURE_FAILED keeps the channel off until its config changes. After any other failure the channel restarts.
 */
export async function runChannel(check: Check, log: Logger, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  log.info("the platform knows this channel", { account: await check(signal).catch(thrown(asFinal)) });
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** What a channel's `run` ends with: credentials that are refused stay so until the config changes, and FEATURE_FAILED says that. */
export function asFinal(error: unknown): unknown {
  if (!(error instanceof SvcError) || error.code !== "CHANNEL_UNAUTHORIZED") return error;
  return new SvcError("FEATURE_FAILED", error.message, { cause: error, ...(error.hint && { hint: error.hint }) });
}

const thrown =
  (made: (error: unknown) => unknown) =>
  (error: unknown): never => {
    throw made(error);
  };

/** What `platformCall` throws, in the words of `Channel.check`: no message was refused here. */
export function checkFailureOf(error: unknown): unknown {
  if (!(error instanceof SvcError) || !error.code.startsWith("DELIVERY_")) return error;
  const { message, retryAfterMs, hint = "Check the channel's api_url." } = error;
  return new SvcError("REMOTE_UNREACHABLE", message, {
    cause: error,
    hint,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

export const asCheckFailure = thrown(checkFailureOf);
