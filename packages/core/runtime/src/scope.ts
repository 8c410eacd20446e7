/**
 * What the code that runs now works for: the request, the turn, the trace. It follows every `await` and callback, so that
 * each line of the log says whose it is and each outgoing request carries the trace, whoever writes or sends it.
 */
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";

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
