/** Questions of ours in groups, by their message ids: a reply to one is meant for the bot, although it may not mention it. */
import type { StateStore } from "@svc/contract";
import { listOf, parseJson } from "@svc/kit";
import { messageId } from "./ids.ts";

export interface Questions {
  has(id: string): boolean;
  /** Resolves once it is on disk, or can't be put there: it is known at least as long as this process lives. */
  add(id: string): Promise<void>;
  load(): Promise<void>;
}

const MOST = 500;
const NAME = "questions";

export function questionsIn(state: StateStore): Questions {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    async add(id) {
      ids.add(id);
      for (const oldest of ids) if (ids.size > MOST) ids.delete(oldest);
      await state.set(NAME, JSON.stringify([...ids])).catch(() => undefined);
    },
    async load() {
      // A command without a store registers the channel too.
      const text = await state.get(NAME).catch(() => undefined);
      for (const id of text === undefined ? [] : listOf(parseJson(Buffer.from(text)))) {
        const known = messageId(id);
        if (known !== undefined) ids.add(known);
      }
    },
  };
}
