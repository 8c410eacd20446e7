/**
 * Small calls to platforms that nothing waits for: a few at a time for each channel, since one that hangs would take a
 * connection for each message, and none for long. What goes wrong is noted and forgotten.
 */
import type { Clock, Logger } from "@svc/contract";
import { keepScope, LinkedList } from "@svc/kernel";
import { within } from "../within.ts";

export interface CourtesyParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when nothing is waited for any more: a platform that hangs would hold up the end of the process. */
  readonly stopping: AbortSignal;
}

export interface Courtesy {
  readonly channel: string;
  /** For the log. */
  readonly what: string;
  readonly call: (signal: AbortSignal) => Promise<void>;
}

const LIMIT_MS = 30_000;
/** Of one channel at the same time. */
const MAX_OPEN = 16;
/** Of one channel, behind those. */
const MAX_WAITING = 1_000;

interface Queue {
  readonly open: Set<AbortController>;
  readonly waiting: LinkedList<() => void>;
}

export class Courtesies {
  readonly #parts: CourtesyParts;
  readonly #queues = new Map<string, Queue>();

  constructor(parts: CourtesyParts) {
    this.#parts = parts;
    parts.stopping.addEventListener("abort", () => {
      for (const { open, waiting } of this.#queues.values()) {
        for (const one of open) one.abort();
        while (waiting.shift());
      }
    });
  }

  /** Begins it now. Resolves when it is over; undefined: too many are open, and it is left out. */
  now(courtesy: Courtesy): Promise<void> | undefined {
    const queue = this.#queueOf(courtesy.channel);
    return this.#isFree(queue) ? this.#run(queue, courtesy) : undefined;
  }

  /** Begins it as soon as there is room. */
  soon(courtesy: Courtesy): void {
    const queue = this.#queueOf(courtesy.channel);
    if (this.#isFree(queue)) void this.#run(queue, courtesy);
    else if (queue.waiting.size < MAX_WAITING) queue.waiting.add(keepScope(() => void this.#run(queue, courtesy)));
  }

  /** Its name only: its words may be the platform's. */
  note({ channel, what }: Pick<Courtesy, "channel" | "what">, error: unknown): void {
    const reason = error instanceof Error ? ((error as { code?: string }).code ?? error.name) : typeof error;
    this.#parts.log.debug("the platform was not told", { channel, what, reason });
  }

  #queueOf(channel: string): Queue {
    let queue = this.#queues.get(channel);
    if (!queue) this.#queues.set(channel, (queue = { open: new Set(), waiting: new LinkedList() }));
    return queue;
  }

  #isFree({ open }: Queue): boolean {
    return open.size < MAX_OPEN && !this.#parts.stopping.aborted;
  }

  async #run({ open, waiting }: Queue, courtesy: Courtesy): Promise<void> {
    const end = new AbortController();
    open.add(end);
    const cancel = this.#parts.clock.after(LIMIT_MS, () => end.abort());
    try {
      await within(end.signal, () => courtesy.call(end.signal));
    } catch (error) {
      this.note(courtesy, error);
    } finally {
      cancel();
      open.delete(end);
      waiting.shift()?.();
    }
  }
}
