/**
 * State that outlives a call. A feature asks for all of it by name while it is constructed (`FeatureContext.shared`,
 * `FeatureContext.perClient`), and passes the handles on. Nothing else outlives a call: no variable of a module, no static
 * field.
 *
 * The contract of a handle under concurrency:
 *
 * - Many readers or one writer, in order of arrival. A waiting writer goes before later readers, so no caller starves.
 * - A reader sees one state from beginning to end, over every `await`. A writer is alone; its result becomes the new state. If it
 *   throws, the state does not change.
 * - The state is read-only: plain objects, arrays, Maps and Sets are deeply frozen, for readers and writers alike. Other values
 *   (an instance of a class, bytes) are not frozen, and callers must not change them.
 * - Inside `read` or `write`, using the same handle or a clone of it throws at once, and so does any wait that would form a
 *   cycle. No deadlock is silent.
 * - `signal` ends waiting, not the work: a callback that has begun is not interrupted.
 *
 * A feature that is made anew by a reload begins with new state.
 */
import type { ClientId } from "./identity.ts";

export interface SharedHandle<T> {
  readonly name: string;
  /** Another handle on the same state, under the same or another name. */
  clone(name?: string): SharedHandle<T>;
  /** Resolves with the result of `look`. Rejects with its error, or with the signal's reason. */
  read<R>(look: (state: Readonly<T>) => R | Promise<R>, signal?: AbortSignal): Promise<R>;
  /** Resolves with the new state. Rejects with the error of `change`, or with the signal's reason; the state is then unchanged. */
  write(change: (state: Readonly<T>) => T | Promise<T>, signal?: AbortSignal): Promise<Readonly<T>>;
}

/** Separate state for each client: credentials, counters, anything that one client must never see of another. */
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
   * Number of clients with state. Beyond that the least recently used client starts again with `initial`, unless it is in use.
   * State that must survive belongs in `FeatureContext.state`. Default: 1 000.
   */
  readonly most?: number;
}

// What a feature keeps over restarts.

/**
 * Small secrets a feature is given at run time (a login session, a credential): encrypted at rest with the home's key
 * file, seen by no other feature. Names are the feature's own, 1 to 200 characters. Rejects with STORE_* and
 * SECRET_UNREADABLE.
 */
export interface SecretStore {
  get(name: string): Promise<string | undefined>;
  /** Resolves once it is on disk. */
  set(name: string, value: string): Promise<void>;
  /** Whether there was one. */
  delete(name: string): Promise<boolean>;
  /** Names in order, those that begin with `prefix`. */
  list(prefix?: string): Promise<string[]>;
}

/** Small texts that a feature keeps over restarts, seen by no other feature. As `SecretStore`. */
export type StateStore = SecretStore;
