/** Threads that the bot takes part in: there it is spoken to without being mentioned. Kept over restarts. */
import type { FeatureContext } from "@svc/contract";
import { type MessageRef, messageIdOf, messageRefOf } from "./ids.ts";

export interface Threads {
  has(thread: MessageRef): boolean;
  add(thread: MessageRef): void;
  /** Those of one conversation, the latest first. */
  in(channel: string): readonly string[];
  /** Reads what is kept. */
  load(): Promise<void>;
}

/** A thread that so many others came after is over. */
const MOST = 1_000;
const NAME = "threads";

export function threadsIn({ state, log }: Pick<FeatureContext, "state" | "log">): Threads {
  let all: ReadonlySet<string> = new Set();
  let writing: Promise<void> | undefined;
  let isStale = false;

  /** One write at a time, of what is there then: many are added while one goes to disk. */
  const keep = (): void => {
    isStale = true;
    writing ??= (async () => {
      while (isStale) {
        isStale = false;
        await state.set(NAME, [...all].join("\n"));
      }
    })()
      .catch(() => log.warn("which threads the bot takes part in could not be kept"))
      .finally(() => (writing = undefined));
  };

  return {
    has: (thread) => all.has(messageIdOf(thread)),
    add(thread) {
      const id = messageIdOf(thread);
      const wasLast = [...all].at(-1) === id;
      if (wasLast) return;
      all = new Set([...[...all].filter((other) => other !== id), id].slice(-MOST));
      keep();
    },
    in: (channel) =>
      [...all]
        .toReversed()
        .flatMap((id) => messageRefOf(id) ?? [])
        .filter((thread) => thread.channel === channel)
        .map(({ ts }) => ts),
    async load() {
      const kept = (await state.get(NAME)) ?? "";
      all = new Set([...kept.split("\n").filter((id) => messageRefOf(id) !== undefined), ...all].slice(-MOST));
    },
  };
}
