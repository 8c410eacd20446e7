/** What can be wrong with a long connection in trouble. One fake each. */
import { SvcError } from "@svc/contract";
import { polling } from "./polling.ts";
import { type Broken, DEAF, hang } from "./spoil.ts";

const STOP = "run ends at once when it is stopped, whatever it is at, and leaves nothing behind";
const DISORDER = "a platform that is out of order is tried again, not without a pause, and goes on when it is back";
const REVOKED = "credentials that are refused on the way end run for good";

export const BROKEN_TROUBLE: readonly Broken[] = [
  ["a run that goes on", STOP, polling(({ ask }) => ({ ask: (after) => ask(after, DEAF) }))],
  [
    "asking on after its end",
    STOP,
    polling(({ ask, read, keep }) => ({
      async ask(after, signal) {
        const updates = ask(after, DEAF);
        // Nobody waits for it any more, and it confirms and keeps all the same.
        void updates.then((all) => (signal.aborted ? keep(read(all)) : undefined)).catch(() => undefined);
        const ended = new Promise<never>((_, reject) => signal.addEventListener("abort", reject, { once: true }));
        return Promise.race([updates, ended]);
      },
    })),
  ],
  [
    "a timer of the clock's left",
    STOP,
    polling(({ ask }, { clock }) => ({
      ask: (after, signal) => (clock.after(3_600_000, () => undefined), ask(after, signal)),
    })),
  ],
  [
    "a timer of Node's left",
    STOP,
    polling(({ ask }) => ({ ask: (after, signal) => (setTimeout(() => undefined, 3_000), ask(after, signal)) })),
  ],
  [
    "asking again and again",
    DISORDER,
    polling(({ ask }) => ({
      async ask(after, signal) {
        for (;;) {
          const updates = await ask(after, signal).catch(() => undefined);
          if (updates !== undefined || signal.aborted) return updates ?? [];
        }
      },
    })),
  ],
  [
    "an answer that must be JSON",
    DISORDER,
    polling(({ failure }) => ({
      failure: (error) =>
        error instanceof SvcError && error.message.includes("can't be read")
          ? new SyntaxError("bad JSON")
          : failure(error),
    })),
  ],
  [
    "giving up",
    DISORDER,
    polling(({ failure }) => ({
      failure: (error) =>
        error instanceof SvcError && error.retryAfterMs !== undefined ? new SvcError("FEATURE_FAILED") : failure(error),
    })),
  ],
  [
    "the token in an error",
    DISORDER,
    polling((_, { config }) => ({ failure: () => new SvcError("REMOTE_UNREACHABLE", `with ${config.token}`) })),
  ],
  ["credentials tried again", REVOKED, polling(() => ({ failure: () => new SvcError("REMOTE_UNREACHABLE") }))],
  [
    "a lost connection that nobody notices",
    REVOKED,
    polling(({ ask }) => ({ ask: (after, signal) => ask(after, signal).catch(() => (signal.aborted ? [] : hang())) })),
  ],
];
