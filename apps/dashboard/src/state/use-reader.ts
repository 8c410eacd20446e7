/** Hooks that read data and read it again when an event makes its topics stale. */
import type { FeatureReport } from "@svc/api";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Api, Query } from "../client/api.ts";
import type { Topic } from "../client/topics.ts";
import { useServices } from "../services.ts";
import { useCell } from "../cell.ts";
import { type Loaded, Reader } from "./reader.ts";

export type Read<Data> = Loaded<Data> & { readonly refresh: () => Promise<void> };

/** @param key Identity of the data; a new key drops the data of the last one. */
export function useReader<Data>(
  key: string,
  topics: readonly Topic[],
  read: (api: Api, signal: AbortSignal) => Promise<Data>,
): Read<Data> {
  const { api, live } = useServices();
  const reader = useMemo(() => new Reader((signal) => read(api, signal)), [key, api]);
  useEffect(() => {
    void reader.refresh();
    const end = live.listen({
      stale(stale) {
        if (stale === undefined || stale.some((topic) => topics.includes(topic))) reader.stale();
      },
    });
    return () => {
      end();
      reader.stop();
    };
  }, [reader, live]);
  const refresh = useCallback(() => reader.refresh(), [reader]);
  return { ...useCell(reader.state), refresh };
}

/** The same for one path. */
export function useList<Data>(path: string, topics: readonly Topic[], query?: Query): Read<Data> {
  const key = `${path} ${JSON.stringify(query ?? {})}`;
  return useReader<Data>(key, topics, (api, signal) => api.get<Data>(path, query, signal));
}

/** A long list, one page at a time. A stale page is read again as a whole. */
export interface Paged {
  /** Undefined: this is the last page. */
  readonly older: (() => void) | undefined;
  /** Undefined: this is the first page. */
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

/** Ids of the running features; empty until they are loaded. */
export function useRunningFeatures(): ReadonlySet<string> {
  // They change only with a config reload; the page of features follows that live.
  const { data } = useList<FeatureReport>("/api/features", []);
  return new Set(data?.features.filter(({ state }) => state === "running").map(({ id }) => id));
}
