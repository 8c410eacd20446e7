/**
 * What the house tells observers of its work. Where nobody watches, beginning and ending a piece of work is two calls that
 * do nothing. An observer that throws is counted and the work goes on.
 */
import type { Clock, Json, Observer, Work, WorkFacts, WorkKind, WorkResults, WorkWatch } from "@svc/contract";
import { currentScope, within } from "../scope.ts";
import { fineTime } from "./fine-time.ts";

export interface Instruments {
  /** False: nobody looks, and nothing need be prepared for it. */
  readonly isWatched: boolean;
  /** A piece of work begins; whoever calls this ends it, once, whatever happens. */
  begin<Kind extends WorkKind>(kind: Kind, facts: WorkFacts[Kind], options?: BeginOptions): OpenWork<Kind>;
}

export interface BeginOptions {
  /** `traceparent` of what it is part of. Default: that of the scope. */
  readonly parent?: string | undefined;
  /** Milliseconds since the epoch. Default: now. */
  readonly startedAtMs?: number;
}

export interface OpenWork<Kind extends WorkKind = WorkKind> {
  /** To be kept with what is done for it later, and by others; undefined: nobody traces. */
  readonly traceparent: string | undefined;
  /** Somebody wants to record what was said: `content` is not to be called else. */
  readonly wantsContent: boolean;
  content(direction: "input" | "output", said: Json): void;
  /** Runs with this as the innermost piece of work. */
  during<T>(run: () => T): T;
  /** The second time does nothing. */
  end(result: WorkResults[Kind]): void;
}

export interface InstrumentsOptions {
  readonly clock: Clock;
  /** Those in force now; the same list as long as they are. */
  readonly observers: () => readonly WatchingObserver[];
  readonly threw: (feature: string, error: unknown) => void;
}

export interface WatchingObserver {
  readonly feature: string;
  readonly observer: Observer;
}

const UNWATCHED: OpenWork<never> = Object.freeze({
  traceparent: undefined,
  wantsContent: false,
  content: () => {},
  during: <T>(run: () => T): T => run(),
  end: () => {},
});

/** For whoever runs without a service around it. */
export const NO_INSTRUMENTS: Instruments = Object.freeze({ isWatched: false, begin: () => UNWATCHED });

export function createInstruments({ clock, observers, threw }: InstrumentsOptions): Instruments {
  const now = fineTime(clock);
  const guarded = <T>(feature: string, tell: () => T): T | undefined => {
    try {
      return tell();
    } catch (error) {
      threw(feature, error);
      return undefined;
    }
  };
  const watching = watchingOf(observers);
  return {
    get isWatched() {
      return watching().length > 0;
    },
    begin<Kind extends WorkKind>(kind: Kind, facts: WorkFacts[Kind], options: BeginOptions = {}): OpenWork<Kind> {
      const inForce = watching();
      if (inForce.length === 0) return UNWATCHED;
      const parent = "parent" in options ? options.parent : currentScope().traceparent;
      const work: Work<Kind> = { kind, facts, parent, startedAtMs: options.startedAtMs ?? now() };
      const watches = inForce.flatMap(({ feature, observer }) => {
        const watch = guarded(feature, () => observer.begin?.(work));
        return watch ? [{ feature, watch }] : [];
      });
      return watches.length === 0 ? UNWATCHED : new Watched(watches, now, guarded);
    },
  };
}

/** Those that want to know of work. Asked several times a message, and another list only after a reload. */
function watchingOf(observers: InstrumentsOptions["observers"]): () => readonly WatchingObserver[] {
  let all: readonly WatchingObserver[] | undefined;
  let watching: readonly WatchingObserver[] = [];
  return () => {
    const now = observers();
    if (now !== all) {
      all = now;
      watching = now.filter(({ observer }) => observer.begin !== undefined);
    }
    return watching;
  };
}

interface FeatureWatch<Kind extends WorkKind> {
  readonly feature: string;
  readonly watch: WorkWatch<Kind>;
}

type Guarded = <T>(feature: string, tell: () => T) => T | undefined;

class Watched<Kind extends WorkKind> implements OpenWork<Kind> {
  readonly traceparent: string | undefined;
  readonly wantsContent: boolean;
  readonly #watches: readonly FeatureWatch<Kind>[];
  readonly #now: () => number;
  readonly #guarded: Guarded;
  #isOver = false;

  constructor(watches: readonly FeatureWatch<Kind>[], now: () => number, guarded: Guarded) {
    this.#watches = watches;
    this.#now = now;
    this.#guarded = guarded;
    this.traceparent = watches.find(({ watch }) => watch.traceparent !== undefined)?.watch.traceparent;
    this.wantsContent = watches.some(({ watch }) => watch.content !== undefined);
  }

  content(direction: "input" | "output", said: Json): void {
    for (const { feature, watch } of this.#watches) this.#guarded(feature, () => watch.content?.(direction, said));
  }

  during<T>(run: () => T): T {
    return this.traceparent === undefined ? run() : within({ traceparent: this.traceparent }, run);
  }

  end(result: WorkResults[Kind]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const endedAtMs = this.#now();
    for (const { feature, watch } of this.#watches) this.#guarded(feature, () => watch.end(result, endedAtMs));
  }
}
