/** `inbox.arrive`, so many in a commit. */
import { join } from "node:path";
import { type Clock, DEDUPE_MS } from "@svc/contract";
import { type Arrival, openStore } from "../src/index.ts";
import { type Cost, Meter } from "./meter.ts";

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: () => () => {},
  sleep: () => Promise.resolve(),
};

export async function measureArrivals(
  folder: string,
  { batch, messages }: { batch: number; messages: number },
): Promise<Cost> {
  const store = openStore({ file: join(folder, `arrive-${batch}.db`), clock, idempotency: { ttlMs: 1, maxKeys: 1 } });
  const arrive = (n: number): Promise<unknown> => store.write(() => store.inbox.arrive(arrival(n), Date.now()));
  const meter = new Meter();
  for (let n = 0; n < messages; n += batch) {
    await Promise.all(Array.from({ length: batch }, (_, index) => arrive(n + index)));
    meter.commit();
  }
  const cost = meter.cost(messages);
  store.close();
  return cost;
}

/** As large as a short message with all that a platform tells of it. */
const arrival = (n: number): Arrival => ({
  channel: "chat",
  messages: [
    {
      kind: "message",
      conversationKey: `["chat","+4917600000${n % 50}"]`,
      body: { id: messageId(n), sender: `+4917600000${n % 50}`, text: "x".repeat(300), sentAtMs: 1_795_278_245_955 },
      dedupe: { key: messageId(n), forMs: DEDUPE_MS },
    },
  ],
});

export const messageId = (n: number): string => `mid.HBgLMTY1MDU1NTEyMzQVAgASGBQzQTREN0${n}`;
