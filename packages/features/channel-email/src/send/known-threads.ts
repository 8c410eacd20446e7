/**
 * The threads that our own mails are in. Some mail programs name only the mail that they answer (In-Reply-To) and not where the
 * thread began: when that is one of ours, this tells.
 */
import type { StateStore } from "@svc/contract";
import { parseJson } from "@svc/kit";
import * as v from "valibot";

export interface KnownThreads {
  /** Message-ID that the thread of this mail began with: the mail's own, where nothing is known. */
  rootOf(messageId: string): Promise<string>;
  /** Whether it is one of our latest mails within threads. */
  has(messageId: string): Promise<boolean>;
  /** A mail of ours is in the thread that began with `root`. Resolves once it is on disk. */
  add(messageId: string, root: string): Promise<void>;
}

/** Who answers a mail that was sent so many mails ago begins a thread anew. */
const MOST = 500;
/** One text for all of them: there are few, and short. */
const NAME = "threads";
const list = v.array(v.tuple([v.string(), v.string()]));

export function knownThreadsIn(state: StateStore): KnownThreads {
  let loading: Promise<Map<string, string>> | undefined;
  const load = (): Promise<Map<string, string>> =>
    (loading ??= state.get(NAME).then(
      (text) => new Map(v.parse(v.fallback(list, []), text === undefined ? [] : parseJson(Buffer.from(text)))),
      (error: unknown) => {
        // What could not be read now may be read by the next try.
        loading = undefined;
        throw error;
      },
    ));
  return {
    rootOf: async (messageId) => (await load()).get(messageId) ?? messageId,
    has: async (messageId) => (await load()).has(messageId),
    async add(messageId, root) {
      if (messageId === root) return;
      const known = await load();
      known.delete(messageId);
      known.set(messageId, root);
      if (known.size > MOST) known.delete(known.keys().next().value as string);
      await state.set(NAME, JSON.stringify([...known]));
    },
  };
}
