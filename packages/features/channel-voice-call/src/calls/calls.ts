/** The calls that are going on, and for a while those that are over: an answer that comes late must not ring anybody up. */
import { Call, OVER } from "./call.ts";

/** Nobody has so many at the same time; who is forgotten is asked for at the platform. */
const MOST = 1_000;
/** The parts of a message are sent one right after the other. */
const PARTS_MS = 10_000;
/** So long nothing was heard of it, and no call is so long. */
const FORGOTTEN_MS = 6 * 3_600_000;

export class Calls {
  readonly #bySid = new Map<string, Call>();
  #isStopped = false;

  get(sid: string): Call | undefined {
    return this.#bySid.get(sid);
  }

  /** The one that is there, or a new one. */
  open(about: ConstructorParameters<typeof Call>[0]): Call {
    const there = this.#bySid.get(about.sid);
    if (there) return there;
    const call = new Call(about);
    if (this.#isStopped) call.stop();
    this.#bySid.set(call.sid, call);
    this.#forget(about.seenAtMs);
    return call;
  }

  /** The latest with this person that is not known to be over. */
  liveWith(person: string): Call | undefined {
    return [...this.#bySid.values()].findLast((call) => call.person.id === person && call.over === undefined);
  }

  /** Why a message is not said to them: it is the rest of one that their call broke off. */
  restOf(person: string, goesOn: boolean, nowMs: number): string | undefined {
    const last = [...this.#bySid.values()].findLast((call) => call.person.id === person);
    if (last?.brokeOffMs === undefined || nowMs - last.brokeOffMs > PARTS_MS) return undefined;
    last.brokeOffMs = goesOn ? nowMs : undefined;
    return last.over;
  }

  /** The channel ends, or is made anew: what waits is for the next one. */
  stop(): void {
    this.#isStopped = true;
    for (const call of this.#bySid.values()) call.stop();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  #forget(nowMs: number): void {
    for (const call of this.#bySid.values()) {
      if (this.#bySid.size <= MOST && nowMs - call.seenAtMs < FORGOTTEN_MS) return;
      call.end(OVER, nowMs);
      this.#bySid.delete(call.sid);
    }
  }
}
