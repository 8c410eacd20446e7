/**
 * State that outlives a call. A feature asks for all of it by name while it is constructed (`FeatureContext.shared`,
 * `FeatureContext.perClient`), and hands the handles on to whoever needs them. Nothing else outlives a call: no variable of a
 * module, no static field.
 *
 * The contract of a handle under concurrency:
 *
 * - Many readers or one writer, in the order in which they came. A waiting writer goes before later readers, so nobody starves.
 * - A reader sees one state from beginning to end, over every `await`. A writer is alone; what it returns becomes the state, all
 *   of it or, when it throws, nothing.
 * - What is handed out can't be changed: plain objects, arrays, Maps and Sets are frozen through and through, for readers and
 *   writers alike. What is no plain data (an instance of a class, bytes) is handed out as it is, and must be left as it is.
 * - Inside `read` or `write` the same handle, or a clone of it, is not asked again: that throws at once, as does any wait that
 *   could only end when somebody gives way who waits for us. No dead lock is silent.
 * - `signal` ends waiting, not the work: whoever is inside already is not interrupted.
 *
 * A feature that is made anew by a reload begins with new state.
 */
import type { ClientId } from "./identity.ts";

export interface SharedHandle<T> {
  readonly name: string;
  /** Another handle on the same state, under the same or another name. */
  clone(name?: string): SharedHandle<T>;
  /** Resolves with what `look` returns. Rejects with what it throws, and with the signal's reason. */
  read<R>(look: (state: Readonly<T>) => R | Promise<R>, signal?: AbortSignal): Promise<R>;
  /** Resolves with the new state. Rejects with what `change` throws, and with the signal's reason; the state is the old one then. */
  write(change: (state: Readonly<T>) => T | Promise<T>, signal?: AbortSignal): Promise<Readonly<T>>;
}

/** State of which every client has its own: credentials, counters, whatever one must never see of another. */
export interface PerClient<T> {
  readonly name: string;
  /**
   * That client's, which is `initial` until it is written. Before every use it is looked up anew: a handle may be kept, the state
   * may be forgotten meanwhile (`PerClientOptions.most`, or because the client is gone).
   */
  of(clientId: ClientId): SharedHandle<T>;
}

export interface PerClientOptions {
  /**
   * Clients whose state is kept at once; beyond that whoever was not there for longest begins again with `initial`, except while
   * it is in use. What must not be forgotten belongs into `FeatureContext.state`. Default: 1 000.
   */
  readonly most?: number;
}
