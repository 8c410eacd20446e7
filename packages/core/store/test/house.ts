/** Shared by the store's tests: a folder, a store in it, and rows to put there. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientId } from "@svc/contract";
import { type FakeClock, fakeClock } from "@svc/testkit";
import { openStore, type SessionPlace, type Store, type StoredTurn } from "../src/index.ts";

export interface House extends Disposable {
  readonly folder: string;
  readonly file: string;
  readonly clock: FakeClock;
  open(): Store;
}

export function house(): House {
  const folder = mkdtempSync(join(tmpdir(), "svc-store-"));
  const file = join(folder, "svc.db");
  const clock = fakeClock();
  return {
    folder,
    file,
    clock,
    open: () => openStore({ file, clock, idempotency: { ttlMs: 300_000, maxKeys: 100 } }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const session = (name: string, client = "c"): { id: string; clientId: ClientId; name: string } => ({
  id: `id-${client}-${name}`,
  clientId: client as ClientId,
  name,
});

export const turn = (id: string, more: Partial<StoredTurn> = {}): StoredTurn => ({
  id,
  at: 0,
  model: "m",
  messages: [{ id }],
  tokens: 1,
  inputTokens: 1,
  outputTokens: 2,
  costUsd: undefined,
  ...more,
});

/** Appends turns named `<session>0`, `<session>1` … in one transaction. */
export function speak(
  store: Store,
  name: string,
  turns: number,
  more: Partial<StoredTurn> = {},
): Promise<SessionPlace> {
  return store.write(() => {
    let place = store.sessions.find(session(name).clientId, name);
    for (let n = 0; n < turns; n += 1) place = store.sessions.append(session(name), place, turn(`${name}${n}`, more));
    return place!;
  });
}
