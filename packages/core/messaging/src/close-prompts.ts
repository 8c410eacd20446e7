/** Takes the buttons off questions that are settled: best effort, one after the other in each channel. */
import { type Channel, type Clock, type Logger, type PostedPrompt, SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit/async";

export interface ClosePromptsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly channelOf: (id: string) => Channel | undefined;
}

const LIMIT_MS = 30_000;
/** Of one channel; a platform that hangs keeps each of them in memory. */
const MAX_WAITING = 1_000;

export class ClosingPrompts {
  readonly #deps: ClosePromptsDeps;
  /** By channel: what is yet to be done, and how many there are. */
  readonly #queues = new Map<string, { last: Promise<void>; size: number }>();
  readonly #stopping = new AbortController();

  constructor(deps: ClosePromptsDeps) {
    this.#deps = deps;
  }

  add(posted: PostedPrompt, outcome: string): void {
    const { channel } = posted.conversation;
    const queue = this.#queues.get(channel) ?? { last: Promise.resolve(), size: 0 };
    if (queue.size >= MAX_WAITING || this.#stopping.signal.aborted) return;
    this.#queues.set(channel, queue);
    queue.size += 1;
    queue.last = queue.last
      .then(() => this.#close(posted, outcome))
      .finally(() => {
        queue.size -= 1;
        if (queue.size === 0) this.#queues.delete(channel);
      });
  }

  /** What is not done by now is not done. */
  stop(): void {
    this.#stopping.abort(new SvcError("TURN_CANCELLED"));
  }

  async #close(posted: PostedPrompt, outcome: string): Promise<void> {
    const { clock, log, channelOf } = this.#deps;
    const { channel } = posted.conversation;
    const limit = new AbortController();
    const signal = AbortSignal.any([limit.signal, this.#stopping.signal]);
    const cancel = clock.after(LIMIT_MS, () => limit.abort(new SvcError("REMOTE_TIMEOUT")));
    try {
      await unlessAborted(() => channelOf(channel)?.prompts?.close?.(posted, outcome, signal), signal);
    } catch (error) {
      // Its name only: its words may be the platform's.
      const reason = error instanceof SvcError ? error.code : error instanceof Error ? error.name : typeof error;
      if (!this.#stopping.signal.aborted)
        log.warn("the buttons of a question could not be taken off", { channel, reason });
    } finally {
      cancel();
    }
  }
}
