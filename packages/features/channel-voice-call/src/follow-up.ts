/**
 * Follows up an incoming call after the webhook's answer: sets its time limit and the status callback at the platform,
 * independent of the phone number's own settings.
 */
import { type Channel, SvcError } from "@svc/contract";
import type { PlatformApi } from "./api.ts";
import type { Config } from "./config.ts";
import { PATHS } from "./protocol.ts";
import { begunIn } from "./webhook.ts";

export interface FollowUpDeps {
  readonly config: Config;
  readonly base: string;
  readonly api: PlatformApi;
  /** In the background. */
  readonly makePhrases: () => void;
}

export function followUp({ config, base, api, makePhrases }: FollowUpDeps): NonNullable<Channel["onNotice"]> {
  return async (notice, signal) => {
    signal.throwIfAborted();
    const sid = begunIn(notice);
    if (sid === undefined) return;
    const callback = { StatusCallback: `${base}${PATHS.status}`, StatusCallbackMethod: "POST" };
    const wanted = { TimeLimit: config.max_call_secs, ...callback };
    await api.updateCall(sid, wanted, signal).catch((error: unknown) => {
      // An account may not choose: the call ends by our own watch all the same.
      if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
    });
    makePhrases();
  };
}
