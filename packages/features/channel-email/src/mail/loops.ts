/**
 * Two programs that answer each other do so for ever, and not all of them say that they are programs: a thread that runs faster
 * than people write is cut, and stays so until it is quiet.
 */
export interface ArrivedMail {
  readonly id: string;
  readonly sender: string;
  readonly thread: string;
  readonly cameMs: number;
}

/** Whether it is one too many. The same mail again is judged as it was. */
export type LoopCut = (mail: ArrivedMail) => boolean;

const HOUR_MS = 3_600_000;
/** A program that knows no threads begins a new one each time. People write in several at once, so there may be more. */
const SENDER_FACTOR = 5;
const MAX_KEYS = 2000;

interface Seen {
  readonly cameMs: number;
  readonly isCut: boolean;
}

/** `perHour`: in one thread; 0: no limit. */
export function createLoopCut(perHour: number): LoopCut {
  const seen = new Map<string, Map<string, Seen>>();

  const isTooMany = (key: string, limit: number, { id, cameMs }: ArrivedMail): boolean => {
    const mails = seen.get(key) ?? new Map<string, Seen>();
    const known = mails.get(id);
    if (known !== undefined) return known.isCut;
    for (const [other, mail] of mails) if (Math.abs(cameMs - mail.cameMs) >= HOUR_MS) mails.delete(other);
    const isCut = mails.size >= limit;
    mails.set(id, { cameMs, isCut });
    // What was heard of last stays longest; of what runs wild, no more is kept than says so.
    if (mails.size > limit * 2) mails.delete(mails.keys().next().value as string);
    seen.delete(key);
    seen.set(key, mails);
    if (seen.size > MAX_KEYS) seen.delete(seen.keys().next().value as string);
    return isCut;
  };

  return (mail) => {
    if (perHour === 0) return false;
    const isInThread = isTooMany(JSON.stringify([mail.sender, mail.thread]), perHour, mail);
    return isTooMany(mail.sender, perHour * SENDER_FACTOR, mail) || isInThread;
  };
}
