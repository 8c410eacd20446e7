/** The channel's loop: the watch is renewed, the keys of pushes are fetched, and mail is looked for when no push comes. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { type AccessTokens, asFinal } from "@svc/kit";
import type { SigningKeys } from "./push.ts";
import type { Sync } from "./sync.ts";
import type { Watch } from "./watch.ts";

export interface Loop {
  readonly context: Pick<FeatureContext, "clock" | "log">;
  readonly tokens: Pick<AccessTokens, "areThere">;
  readonly check: (signal: AbortSignal) => Promise<string>;
  readonly watch: Watch;
  readonly sync: Sync;
  readonly keys: SigningKeys;
}

/** The platform says that pushes may be late or missing, and to look now and then. */
const LOOK_MS = 1_800_000;

export async function runLoop(loop: Loop, signal: AbortSignal): Promise<void> {
  const { check, watch, sync, keys, context } = loop;
  const { clock, log } = context;
  signal.throwIfAborted();
  try {
    // First of all, so that pushes can be told apart even when the mailbox is out of reach.
    await fetchKeys(loop, signal);
    let account: string | undefined;
    while (!signal.aborted) {
      const dueAtMs = await watch.keep(signal);
      await sync.run(signal);
      if (account === undefined)
        log.info("the platform knows this channel", { account: (account = await check(signal)) });
      await fetchKeys(loop, signal);
      const nextMs = Math.min(dueAtMs, keys.dueAtMs, clock.now() + LOOK_MS);
      await pause(loop, Math.max(1000, nextMs - clock.now()), signal);
      // Someone asked for keys: they are what a push waits for, and come before everything else.
      await fetchKeys(loop, signal);
    }
  } catch (error) {
    if (signal.aborted) return;
    throw loop.tokens.areThere ? asFinal(error) : error;
  }
}

/** Keys that can't be had are no reason to stop reading mail: the old ones stay. */
async function fetchKeys({ keys, context }: Loop, signal: AbortSignal): Promise<void> {
  if (context.clock.now() < keys.dueAtMs) return;
  await keys.fetch(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    const reason = error instanceof SvcError ? error.code : "unknown";
    context.log.warn("The keys with which pushes are signed can't be fetched; they are tried again.", { reason });
  });
}

/** Until the time is up, keys are asked for, or the channel stops. */
async function pause({ keys, context }: Loop, ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([context.clock.sleep(ms, either).catch(() => undefined), keys.asked(either)]);
  } finally {
    over.abort();
  }
}
