/** Message admin over a store on disk, and a record of what it wakes and stops. */
import { join } from "node:path";
import type { Inbound, Json } from "@svc/contract";
import { keyOfConversation } from "@svc/kit";
import { type Delivery, type InboxMessage, type NewDelivery, type NewMessage, openStore } from "@svc/store";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { StoredMessageAdmin } from "../src/admin.ts";
import { talk } from "./delivery-fixture.ts";
import { failure } from "@svc/agent/agent-fixture";

export const SECRET = "sesame-open";

export function desk() {
  const home = temporaryHome();
  const clock = fakeClock();
  const store = openStore({ file: join(home.path, "svc.db"), clock, idempotency: { ttlMs: 300_000, maxKeys: 10 } });
  const told = { inbox: [] as number[], outbox: [] as string[], forgotten: [] as number[], stopped: [] as string[] };
  const messageAdmin = new StoredMessageAdmin({
    store,
    log: captureLogger(),
    redact: (text) => text.replaceAll(SECRET, "[redacted]"),
    dispatcher: {
      wake: (rows) => told.outbox.push(...rows.map(({ n, state }) => `${n} ${state}`)),
      forget: ({ n }) => void told.forgotten.push(n),
    },
    wakeInbox: ({ n }) => void told.inbox.push(n),
    stopTurn: (turnId) => void told.stopped.push(turnId),
  });
  const arrive = async (message: NewMessage): Promise<InboxMessage> => {
    const arrived = await store.write(() => store.inbox.arrive({ channel: "chat", messages: [message] }, clock.now()));
    const [kept] = arrived.state === "kept" ? arrived.messages : [];
    if (kept === undefined || kept === "duplicate") throw new Error("it was to be kept");
    return store.inbox.read(kept.n)!;
  };
  return {
    store,
    clock,
    messageAdmin,
    told,
    hear: (text: string, more: Partial<Inbound> = {}) =>
      arrive({
        kind: "message",
        conversationKey: keyOfConversation(talk("a")),
        body: inbound(text, more) as unknown as Json,
      }),
    notice: (body: Json) => arrive({ kind: "notice", conversationKey: "n", body }),
    put: async (...rows: NewDelivery[]): Promise<Delivery[]> => store.write(() => store.outbox.add(rows, clock.now())),
    [Symbol.dispose]() {
      store.close();
      home.remove();
    },
  };
}

export const inbound = (text: string, more: Partial<Inbound>): Inbound => ({
  conversation: talk("a"),
  sender: "+1",
  text,
  ...more,
});

export const codeOf = async (work: Promise<unknown>): Promise<string> => (await failure(work)).code;
