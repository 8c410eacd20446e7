/** Up to when the times of a cron trigger are dealt with. On disk: neither a restart nor a `kill -9` fires one twice. */
import type { Store } from "@svc/store";

export interface CronMark {
  /** Milliseconds since the epoch: the time that was fired, or from when on the trigger counts. */
  readonly atMs: number;
  readonly fired: boolean;
  /** A later time that was fired too, before the clock was set back by more than a day. */
  readonly ahead?: number;
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
      const [kind, at, ahead] = (state.get(OWNER, key) ?? "").split(" ");
      const atMs = Number(at);
      if (at === undefined || !Number.isSafeInteger(atMs)) return undefined;
      return { atMs, fired: kind === "fired", ...(ahead !== undefined && { ahead: Number(ahead) }) };
    },
    noteIn(key, mark) {
      if (mark) state.setIn(OWNER, key, textOf(mark));
      else state.deleteIn(OWNER, key);
    },
    write: (change) => store.write(change),
  };
}

const textOf = ({ atMs, fired, ahead }: CronMark): string =>
  [fired ? "fired" : "since", atMs, ahead].filter((part) => part !== undefined).join(" ");
