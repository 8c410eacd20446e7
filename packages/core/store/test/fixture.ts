/** Shared by the store's tests: a folder, a store in it, and rows to put there. */
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClientId, DEDUPE_MS } from "@svc/contract";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import {
  type Arrival,
  type Arrived,
  type KeptMessage,
  type NewDelivery,
  type NewMessage,
  type NewTurn,
  openStore,
  type SessionPlace,
  type Store,
} from "../src/index.ts";

export interface Fixture extends Disposable {
  readonly folder: string;
  readonly file: string;
  readonly clock: FakeClock;
  /** What whoever writes now is part of. */
  traceparent: string | undefined;
  open(): Store;
  /** Opens what a killed process would leave behind now; the old one is of no use any more. */
  crash(store: Store): Store;
}

/** What of a database is on disk; the index of the log is made anew. */
const LEFT_BEHIND = ["", "-wal"] as const;

/** What a kill leaves behind is in the kernel's memory already: no test here is about the disk, so none waits for it. */
const ROOT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export function fixture(): Fixture {
  const folder = mkdtempSync(join(ROOT, "svc-store-"));
  const file = join(folder, "svc.db");
  const clock = fakeClock();
  const idempotency = { ttlMs: 300_000, maxKeys: 100 };
  const open = (): Store => openStore({ file, clock, idempotency, traceparent: () => self.traceparent });
  const self: Fixture = {
    traceparent: undefined,
    folder,
    file,
    clock,
    open,
    crash: (store) => {
      const left = LEFT_BEHIND.filter((name) => existsSync(file + name));
      for (const name of left) cpSync(file + name, `${file}-left${name}`);
      store.close();
      for (const name of [...LEFT_BEHIND, "-shm"]) rmSync(file + name, { force: true });
      for (const name of left) renameSync(`${file}-left${name}`, file + name);
      return open();
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
  return self;
}

export const session = (name: string, client = "c"): { id: string; clientId: ClientId; name: string } => ({
  id: `id-${client}-${name}`,
  clientId: client as ClientId,
  name,
});

export const turn = (id: string, more: Partial<NewTurn> = {}): NewTurn => ({
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
export function speak(store: Store, name: string, turns: number, more: Partial<NewTurn> = {}): Promise<SessionPlace> {
  return store.write(() => {
    let place = store.sessions.find(session(name).clientId, name);
    for (let n = 0; n < turns; n += 1) place = store.sessions.append(session(name), place, turn(`${name}${n}`, more));
    return place!;
  });
}

/** A message of a conversation. `key`: the id by which a duplicate is detected. */
export const message = (conversationKey: string, key?: string, more: Partial<NewMessage> = {}): NewMessage => ({
  kind: "message",
  conversationKey,
  body: { text: key ?? conversationKey },
  ...(key !== undefined && { dedupe: { key, forMs: DEDUPE_MS } }),
  ...more,
});

export const arrive = (store: Store, clock: FakeClock, ...messages: NewMessage[]): Promise<Arrived> =>
  arriveAt(store, clock, { channel: "chat", messages });

export const arriveAt = (store: Store, clock: FakeClock, arrival: Arrival): Promise<Arrived> =>
  store.write(() => store.inbox.arrive(arrival, clock.now()));

/** Of what became of the messages of an arrival: the kept ones. */
export const keptOf = (arrived: Arrived): KeptMessage[] =>
  arrived.state === "kept" ? arrived.messages.filter((each) => each !== "duplicate") : [];

export const delivery = (id: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
  conversation: { channel: "chat", id },
  conversationKey: id,
  text: `to ${id}`,
  files: [],
  ...more,
});
