/** A long list, a page at a time. The page that is shown is read again as a whole when it is stale. */
import { useEffect, useState } from "preact/hooks";
import type { Query } from "../api/client.ts";
import type { Topic } from "../live/topics.ts";
import { type Read, useList } from "./use-reader.ts";

export interface Paged {
  /** Undefined: this is the last. */
  readonly older: (() => void) | undefined;
  /** Undefined: this is the first. */
  readonly newer: (() => void) | undefined;
}

interface Page {
  readonly before: number | null;
}

export function usePaged<Data extends Page>(
  path: string,
  topics: readonly Topic[],
  query: Query = {},
): Read<Data> & Paged {
  const [cursors, setCursors] = useState<readonly number[]>([]);
  const filter = JSON.stringify(query);
  useEffect(() => setCursors([]), [path, filter]);
  const read = useList<Data>(path, topics, { ...query, before: cursors.at(-1) });
  const next = read.data?.before ?? null;
  return {
    ...read,
    older: next === null ? undefined : () => setCursors([...cursors, next]),
    newer: cursors.length === 0 ? undefined : () => setCursors(cursors.slice(0, -1)),
  };
}
