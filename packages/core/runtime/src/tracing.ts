/**
 * What the house tells observers of its work. Where nobody watches, beginning and ending a piece of work is two calls that
 * do nothing. An observer that throws is counted and the work goes on.
 */
import {
  type Clock,
  type ErrorCode,
  type Json,
  type Observer,
  SvcError,
  type Work,
  type WorkFacts,
  type WorkKind,
  type WorkResults,
  type WorkWatch,
} from "@svc/contract";
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";

export interface Tracer {
  /** False: nobody looks, and nothing need be prepared for it. */
  readonly isWatched: boolean;
  /** A piece of work begins; whoever calls this ends it, once, whatever happens. */
  begin<Kind extends WorkKind>(kind: Kind, facts: WorkFacts[Kind], options?: BeginOptions): OpenSpan<Kind>;
}

export interface BeginOptions {
  /** `traceparent` of what it is part of. Default: that of the scope. */
  readonly parent?: string | undefined;
  /** Milliseconds since the epoch. Default: now. */
  readonly startedAtMs?: number;
}

export interface OpenSpan<Kind extends WorkKind = WorkKind> {
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

export interface TracerOptions {
  readonly clock: Clock;
  /** Those in force now; the same list as long as they are. */
  readonly observers: () => readonly WatchingObserver[];
  readonly threw: (feature: string, error: unknown) => void;
}

export interface WatchingObserver {
  readonly feature: string;
  readonly observer: Observer;
}

const UNWATCHED: OpenSpan<never> = Object.freeze({
  traceparent: undefined,
  wantsContent: false,
  content: () => {},
  during: <T>(run: () => T): T => run(),
  end: () => {},
});

/** For whoever runs without a service around it. */
export const NO_TRACER: Tracer = Object.freeze({ isWatched: false, begin: () => UNWATCHED });

export function createTracer({ clock, observers, threw }: TracerOptions): Tracer {
  const telling: Telling = { now: fineTime(clock), threw };
  const watching = watchingOf(observers);
  return {
    get isWatched() {
      return watching().length > 0;
    },
    begin<Kind extends WorkKind>(kind: Kind, facts: WorkFacts[Kind], options: BeginOptions = {}): OpenSpan<Kind> {
      const inForce = watching();
      if (inForce.length === 0) return UNWATCHED;
      const parent = "parent" in options ? options.parent : currentScope().traceparent;
      const work: Work<Kind> = { kind, facts, parent, startedAtMs: options.startedAtMs ?? telling.now() };
      const watches: FeatureWatch<Kind>[] = [];
      for (const { feature, observer } of inForce) {
        try {
          const watch = observer.begin?.(work);
          if (watch) watches.push({ feature, watch });
        } catch (error) {
          threw(feature, error);
        }
      }
      return watches.length === 0 ? UNWATCHED : new Watched(watches, telling);
    },
  };
}

/** Those that want to know of work. Asked several times a message, and another list only after a reload. */
function watchingOf(observers: TracerOptions["observers"]): () => readonly WatchingObserver[] {
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

interface Telling {
  /** Milliseconds since the epoch, with fractions. */
  readonly now: () => number;
  readonly threw: TracerOptions["threw"];
}

class Watched<Kind extends WorkKind> implements OpenSpan<Kind> {
  readonly traceparent: string | undefined;
  readonly wantsContent: boolean;
  readonly #watches: readonly FeatureWatch<Kind>[];
  readonly #telling: Telling;
  #isOver = false;

  constructor(watches: readonly FeatureWatch<Kind>[], telling: Telling) {
    this.#watches = watches;
    this.#telling = telling;
    let traceparent: string | undefined;
    let wantsContent = false;
    for (const { watch } of watches) {
      traceparent ??= watch.traceparent;
      wantsContent ||= watch.content !== undefined;
    }
    this.traceparent = traceparent;
    this.wantsContent = wantsContent;
  }

  content(direction: "input" | "output", said: Json): void {
    for (const { feature, watch } of this.#watches) {
      try {
        watch.content?.(direction, said);
      } catch (error) {
        this.#telling.threw(feature, error);
      }
    }
  }

  during<T>(run: () => T): T {
    return this.traceparent === undefined ? run() : within({ traceparent: this.traceparent }, run);
  }

  end(result: WorkResults[Kind]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { now, threw } = this.#telling;
    const endedAtMs = now();
    for (const { feature, watch } of this.#watches) {
      try {
        watch.end(result, endedAtMs);
      } catch (error) {
        threw(feature, error);
      }
    }
  }
}

// The time of day with fractions of a millisecond, for what is over in less than one.

/** Past this the clock was set, or has been corrected for long. The clock itself tells whole milliseconds only. */
const MOST_OFF_MS = 2;

/**
 * Milliseconds since the epoch. It goes on by the monotonic clock, so that nothing ends before it began, and follows the
 * clock of the machine when that is set.
 */
export function fineTime(clock: Clock): () => number {
  let offsetMs = -Infinity;
  return () => {
    const elapsedMs = clock.monotonic();
    const wholeMs = clock.now() - elapsedMs;
    // The whole milliseconds lag behind: of two readings the later one is nearer.
    if (wholeMs > offsetMs || offsetMs - wholeMs > MOST_OFF_MS) offsetMs = wholeMs;
    return offsetMs + elapsedMs;
  };
}

/**
 * Runs `run` inside the span, and ends the span once, however `run` ends. `resultOf` gets the error (undefined: none) and the
 * value.
 */
export async function watched<Kind extends WorkKind, T>(
  work: OpenSpan<Kind>,
  run: () => Promise<T>,
  resultOf: (error: ErrorCode | undefined, done: T | undefined) => WorkResults[Kind],
): Promise<T> {
  try {
    const done = await work.during(run);
    work.end(resultOf(undefined, done));
    return done;
  } catch (error) {
    work.end(resultOf(codeOf(error), undefined));
    throw error;
  }
}

/** `otherwise`: of what is no `SvcError`, which nobody expects. */
export const codeOf = (error: unknown, otherwise: ErrorCode = "INTERNAL"): ErrorCode =>
  error instanceof SvcError ? error.code : otherwise;

/**
 * What the code that runs now works for: the request, the turn, the trace. It follows every `await` and callback, so that each line of the
 * log says whose it is and each outgoing request carries the trace, whoever writes or sends it.
 */
export interface Scope {
  /** As in the header `X-Request-Id` of the answer. */
  readonly request?: string | undefined;
  readonly turn?: string | undefined;
  /** W3C `traceparent` of the innermost piece of work; undefined: nobody traces. */
  readonly traceparent?: string | undefined;
}

const NOBODYS: Scope = Object.freeze({});

const storage = new AsyncLocalStorage<Scope>();

export const currentScope = (): Scope => storage.getStore() ?? NOBODYS;

/** Where nobody works for anything. */
const outside = new AsyncResource("svc-outside", { requireManualDestroy: true });

/**
 * Runs for `scope` what comes in from outside the process. Whatever was kept for this place, by libraries too, holds no
 * more in there; that makes it cost a sixth of `inScope` (0.07 µs), which every request would pay.
 */
export const fromOutside = <T>(scope: Scope, run: () => T): T =>
  outside.runInAsyncScope<undefined, T>(entered, undefined, scope, run);

function entered<T>(scope: Scope, run: () => T): T {
  storage.enterWith(scope);
  return run();
}

/** Runs for `scope` alone: what takes up somebody else's work must not be told as its own. */
export function inScope<T>(scope: Scope, run: () => T): T {
  const { request, turn, traceparent } = currentScope();
  const isTheSame = scope.request === request && scope.turn === turn && scope.traceparent === traceparent;
  return isTheSame ? run() : storage.run(scope, run);
}

/** Runs for what it ran for already, and for `part` of it. */
export function within<T>(part: Scope, run: () => T): T {
  const now = currentScope();
  // Field by field: to spread them costs a third of it all.
  const request = part.request ?? now.request;
  const turn = part.turn ?? now.turn;
  const traceparent = part.traceparent ?? now.traceparent;
  return inScope({ request, turn, traceparent }, run);
}

/** `run`, for what is worked for now, whenever and by whomever it is called: an emitter, say. */
export const keepScope = <Arguments extends unknown[], T>(
  run: (...given: Arguments) => T,
): ((...given: Arguments) => T) => AsyncLocalStorage.bind(run);
