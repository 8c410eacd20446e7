/** Up to when the times of a cron trigger are dealt with. On disk: neither a restart nor a `kill -9` fires one twice. */
import type { Store } from "@svc/store";

export interface CronMark {
  /** Milliseconds since the epoch: the time that was fired, or from when on the trigger counts. */
  readonly atMs: number;
  readonly fired: boolean;
}

export interface CronMarks {
  keys(): readonly string[];
  read(key: string): CronMark | undefined;
  /** Inside a transaction. Undefined: forget it. */
  noteIn(key: string, mark: CronMark | undefined): void;
  /** Rejects with STORE_*. */
  write(change: () => void): Promise<void>;
}

const OWNER = "sop-cron";

export function cronMarks(store: Pick<Store, "state" | "write">): CronMarks {
  const { state } = store;
  return {
    keys: () => state.list(OWNER, ""),
    read(key) {
      const [kind, at] = (state.get(OWNER, key) ?? "").split(" ");
      const atMs = Number(at);
      return at !== undefined && Number.isSafeInteger(atMs) ? { atMs, fired: kind === "fired" } : undefined;
    },
    noteIn(key, mark) {
      if (mark) state.setIn(OWNER, key, `${mark.fired ? "fired" : "since"} ${mark.atMs}`);
      else state.deleteIn(OWNER, key);
    },
    write: (change) => store.write(change),
  };
}
