/** What people are called. No message waits for it: who is not known yet is by the next one. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { fieldsOf, wordOf } from "./protocol.ts";
import type { WebApi } from "./web-api.ts";

export interface People {
  nameOf(user: string): string | undefined;
  /** Has the name looked up, when there is time. */
  want(user: string): void;
  /** Looks up who is wanted, until `signal` ends it. Never rejects for a name that can't be had. */
  run(signal: AbortSignal): Promise<void>;
}

/** Only people who write are cached, in a workspace of any size. */
const MOST_KNOWN = 5_000;
const MOST_WANTED = 100;
/** A hundred a minute are allowed. https://docs.slack.dev/reference/methods/users.info */
const PAUSE_MS = 700;

export function peopleOf(api: WebApi, { clock, log }: Pick<FeatureContext, "clock" | "log">): People {
  const names = new Map<string, string>();
  const wanted = new Set<string>();
  let wake = (): void => undefined;

  const remember = (user: string, name: string): void => {
    names.set(user, name);
    for (const oldest of names.keys()) if (names.size > MOST_KNOWN) names.delete(oldest);
  };

  async function lookUp(user: string, signal: AbortSignal): Promise<void> {
    try {
      const { profile, real_name: real, name } = fieldsOf((await api.call("users.info", { user }, signal))["user"]);
      const { display_name: shown, real_name: full } = fieldsOf(profile);
      const found = wordOf(shown) ?? wordOf(full) ?? wordOf(real) ?? wordOf(name);
      if (found !== undefined) remember(user, found);
    } catch (error) {
      signal.throwIfAborted();
      const { code = "unknown", retryAfterMs = 0 } = error instanceof SvcError ? error : {};
      log.debug("a name could not be looked up", { reason: code });
      await clock.sleep(retryAfterMs, signal);
    }
  }

  return {
    nameOf: (user) => names.get(user),
    want(user) {
      if (wanted.size >= MOST_WANTED) return;
      wanted.add(user);
      wake();
    },
    async run(signal) {
      while (!signal.aborted) {
        const [user] = wanted;
        if (user === undefined) {
          await wokenOr(signal, (woken) => (wake = woken));
          continue;
        }
        wanted.delete(user);
        if (names.has(user)) continue;
        await lookUp(user, signal);
        await clock.sleep(PAUSE_MS, signal);
      }
    },
  };
}

function wokenOr(signal: AbortSignal, hand: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
    hand(end);
  });
}
