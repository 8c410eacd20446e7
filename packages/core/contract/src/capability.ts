/**
 * What one feature offers to the code of others: a typed object under a key that both import. A feature never imports another, so the
 * key and its type live in the contract, or in a package that both may import.
 */
export interface Capability<T> {
  /** a-z, then a-z 0-9 -; one key for each id. */
  readonly id: string;
  /** Never set: it carries the type. */
  readonly type?: T;
}

/** An entry of `Contributions.provides`. */
export interface Provided<T = unknown> {
  readonly capability: Capability<T>;
  readonly value: T;
}

export const defineCapability = <T>(id: string): Capability<T> => Object.freeze({ id });

/** `value` is offered as it is; it belongs to the construction of the feature that offers it. */
export const provide = <T>(capability: Capability<T>, value: T): Provided =>
  Object.freeze({ capability, value } satisfies Provided<T>);

/** The values that features in service provide for a key, in their order of construction. */
export type FindCapabilities = <T>(capability: Capability<T>) => readonly T[];

/** Finds the values provided for a capability. */
export function findProvided<T>(provided: readonly Provided[], { id }: Capability<T>): readonly T[] {
  return provided.filter(({ capability }) => capability.id === id).map(({ value }) => value as T);
}
