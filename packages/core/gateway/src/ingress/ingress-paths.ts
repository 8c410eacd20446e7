/**
 * The paths that belong to channels, whether this build has the channel or not: each is nobody else's, and says so when
 * nothing is behind it. A platform that was pointed at a channel nobody configured is told what is missing.
 */
import type { CatalogueEntry } from "@svc/contract";

export interface IngressPath {
  readonly feature: string;
  /** For a person, e.g. `Provider A`. */
  readonly title: string;
}

export const ingressPathsOf = (catalogue: readonly CatalogueEntry[]): ReadonlyMap<string, IngressPath> =>
  new Map(
    catalogue.flatMap(({ id, ingress }) => ingress.map((path) => [path, { feature: id, title: titleOf(id) }] as const)),
  );

/** `channel-provider-a` is Provider A. */
const titleOf = (id: string): string =>
  id
    .replace(/^channel-/, "")
    .replaceAll("-", " ")
    .replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
