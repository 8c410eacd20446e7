/** What a transaction did is told to others only once it is on disk. */
import type { Store } from "@svc/store";
import type { Pending } from "../approvals/types.ts";

/** Notes what is to be done then. */
export type After = (tell: () => void) => void;

/** A change may run twice, when a neighbour in its transaction failed: what it noted the first time is forgotten with it. */
export function pendingOf<Result>(change: (after: After) => Result): Pending<Result> {
  const noted: (() => void)[] = [];
  const result = change((tell) => noted.push(tell));
  return {
    result,
    committed: () => {
      for (const tell of noted.splice(0)) tell();
    },
  };
}

/** Rejects with what `change` throws, and with STORE_*. */
export async function commit<Result>(store: Pick<Store, "write">, change: (after: After) => Result): Promise<Result> {
  const { result, committed } = await store.write(() => pendingOf(change));
  committed();
  return result;
}
