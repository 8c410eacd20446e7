/** What a feature keeps over restarts. */

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
