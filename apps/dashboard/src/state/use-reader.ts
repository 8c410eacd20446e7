import { useCallback, useEffect, useMemo } from "preact/hooks";
import type { Api, Query } from "../api/client.ts";
import type { Topic } from "../live/topics.ts";
import { useServices } from "../services.ts";
import { useCell } from "./cell.ts";
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

/** The same of one path. */
export function useList<Data>(path: string, topics: readonly Topic[], query?: Query): Read<Data> {
  const key = `${path} ${JSON.stringify(query ?? {})}`;
  return useReader<Data>(key, topics, (api, signal) => api.get<Data>(path, query, signal));
}
