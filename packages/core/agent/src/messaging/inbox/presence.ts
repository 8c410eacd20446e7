/** What the sender sees while a message is answered: that it was read, and that somebody writes. Nothing waits for either. */
import type { Channel, Clock, Inbound, Logger } from "@svc/contract";

export interface PresenceParts {
  readonly clock: Clock;
  readonly log: Logger;
}

/** An answer that is there at once needs no "… is writing" before it. */
const TYPING_AFTER_MS = 300;
/** Whatever a channel says: a platform is not asked more often. */
const SHORTEST_MS = 1_000;
const MARK_LIMIT_MS = 30_000;

/** Until the result is called. */
export function showTyping(parts: PresenceParts, { typing }: Channel, { conversation, id }: Inbound): () => void {
  if (!typing) return () => {};
  const { clock } = parts;
  const stop = new AbortController();
  const show = async (): Promise<void> => {
    await typing.start(conversation, id, stop.signal);
    await clock.sleep(Math.max(SHORTEST_MS, typing.lastsMs), stop.signal);
  };
  const goOn = (): void => {
    show().then(goOn, (error: unknown) => {
      if (!stop.signal.aborted) note(parts, conversation.channel, "typing", error);
    });
  };
  const cancel = clock.after(TYPING_AFTER_MS, goOn);
  return () => {
    cancel();
    stop.abort();
  };
}

export function markRead(parts: PresenceParts, { readMarks }: Channel, { conversation, id }: Inbound): void {
  if (!readMarks || id === undefined) return;
  const stop = new AbortController();
  const cancel = parts.clock.after(MARK_LIMIT_MS, () => stop.abort());
  (async () => readMarks.mark(conversation, id, stop.signal))()
    .catch((error: unknown) => note(parts, conversation.channel, "read mark", error))
    .finally(cancel);
}

/** Its name only: its words may be the platform's. */
function note({ log }: PresenceParts, channel: string, what: string, error: unknown): void {
  const reason = error instanceof Error ? ((error as { code?: string }).code ?? error.name) : typeof error;
  log.debug("the platform was not told", { channel, what, reason });
}
