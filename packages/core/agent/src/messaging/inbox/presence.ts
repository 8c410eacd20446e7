/** What the sender sees while a message is answered: that it was read, and that somebody writes. Nothing waits for either. */
import { type Channel, type Clock, type Inbound, type Logger, SvcError } from "@svc/contract";
import { within } from "../within.ts";

export interface PresenceParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when nothing is waited for any more: a platform that hangs would hold up the end of the process. */
  readonly stopping: AbortSignal;
}

/** An answer that is there at once needs no "… is writing" before it. */
const TYPING_AFTER_MS = 300;
/** Whatever a channel says: a platform is not asked more often. */
const SHORTEST_MS = 1_000;
const MARK_LIMIT_MS = 30_000;
/** Marks of one channel at the same time: one that hangs would take a connection for each message. */
const MAX_MARKS = 16;
/** Without a reason given, each message would cost an exception with its stack. */
const OVER = new SvcError("TURN_CANCELLED", "The turn is over.");

export class Presence {
  readonly #parts: PresenceParts;
  /** By channel: what ends each. */
  readonly #marks = new Map<string, Set<AbortController>>();

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    parts.stopping.addEventListener("abort", () => {
      for (const marks of this.#marks.values()) for (const mark of marks) mark.abort();
    });
  }

  /** Until the result is called. */
  showTyping({ typing }: Channel, { conversation, id }: Inbound): () => void {
    if (!typing) return () => {};
    const { clock } = this.#parts;
    const stop = new AbortController();
    const show = async (): Promise<void> => {
      await typing.start(conversation, id, stop.signal);
      await clock.sleep(Math.max(SHORTEST_MS, typing.lastsMs), stop.signal);
    };
    const goOn = (): void => {
      show().then(goOn, (error: unknown) => {
        if (!stop.signal.aborted) this.#note(conversation.channel, "typing", error);
      });
    };
    const cancel = clock.after(TYPING_AFTER_MS, goOn);
    return () => {
      cancel();
      stop.abort(OVER);
    };
  }

  markRead({ readMarks }: Channel, { conversation, id }: Inbound): void {
    if (!readMarks || id === undefined) return;
    const { channel } = conversation;
    const marks = this.#marks.get(channel) ?? new Set();
    if (marks.size >= MAX_MARKS || this.#parts.stopping.aborted) return;
    const mark = new AbortController();
    this.#marks.set(channel, marks.add(mark));
    const cancel = this.#parts.clock.after(MARK_LIMIT_MS, () => mark.abort());
    within(mark.signal, () => readMarks.mark(conversation, id, mark.signal))
      .catch((error: unknown) => this.#note(channel, "read mark", error))
      .finally(() => {
        cancel();
        marks.delete(mark);
      });
  }

  /** Its name only: its words may be the platform's. */
  #note(channel: string, what: string, error: unknown): void {
    const reason = error instanceof Error ? ((error as { code?: string }).code ?? error.name) : typeof error;
    this.#parts.log.debug("the platform was not told", { channel, what, reason });
  }
}
