/** What the sender sees while a message is answered: that it was read, and that somebody writes. Nothing waits for either. */
import { type Channel, type Inbound, SvcError } from "@svc/contract";
import type { InboxMessage } from "@svc/store";
import { Courtesies, type CourtesyParts } from "./courtesies.ts";

/** An answer that is there at once needs no "… is writing" before it. */
const TYPING_AFTER_MS = 300;
/** Whatever a channel says: a platform is not asked more often. */
const SHORTEST_MS = 1_000;
/** Without a reason given, each message would cost an exception with its stack. */
const OVER = new SvcError("TURN_CANCELLED", "The turn is over.");

export class Presence {
  readonly #clock;
  readonly #courtesies: Courtesies;
  /** By message: marks that are to be taken back, and when each was set. */
  readonly #marks = new Map<number, Promise<void>>();

  constructor(parts: CourtesyParts) {
    this.#clock = parts.clock;
    this.#courtesies = new Courtesies(parts);
  }

  /** Until the result is called. */
  showTyping({ typing }: Channel, { conversation, id }: Inbound): () => void {
    if (!typing) return () => {};
    const stop = new AbortController();
    const show = async (): Promise<void> => {
      await typing.start(conversation, id, stop.signal);
      await this.#clock.sleep(Math.max(SHORTEST_MS, typing.lastsMs), stop.signal);
    };
    const goOn = (): void => {
      show().then(goOn, (error: unknown) => {
        if (!stop.signal.aborted) this.#courtesies.note({ channel: conversation.channel, what: "typing" }, error);
      });
    };
    const cancel = this.#clock.after(TYPING_AFTER_MS, goOn);
    return () => {
      cancel();
      stop.abort(OVER);
    };
  }

  /** Its first attempt begins. */
  markRead({ readMarks }: Channel, { n, channel, body }: InboxMessage): void {
    const { conversation, id } = body as unknown as Inbound;
    if (!readMarks || id === undefined || this.#marks.has(n)) return;
    const call = (signal: AbortSignal): Promise<void> => readMarks.mark(conversation, id, signal);
    const marked = this.#courtesies.now({ channel, what: "read mark", call });
    if (marked && readMarks.clear) this.#marks.set(n, marked);
  }

  /** It is over, whichever way. An earlier process may have marked it. */
  clearMark(of: Channel | undefined, { n, channel, body, attempts }: InboxMessage): void {
    const { readMarks } = of ?? {};
    const marked = this.#marks.get(n) ?? (attempts > 0 ? Promise.resolve() : undefined);
    this.#marks.delete(n);
    const { conversation, id } = body as unknown as Inbound;
    if (!readMarks?.clear || !marked || id === undefined) return;
    const call = async (signal: AbortSignal): Promise<void> => readMarks.clear?.(conversation, id, signal);
    // A mark that comes after it would stay.
    void marked.then(() => this.#courtesies.soon({ channel, what: "end of a read mark", call }));
  }
}
