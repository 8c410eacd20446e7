/**
 * Anonymous memory over many deliveries that come in as fast as they are taken, which is faster than they are answered: while
 * they wait, and when the platform has the answers to all of them.
 */
import { startDaemon } from "../gateway.ts";
import { anonymousMb, load } from "../server.ts";
import { onlyTaken } from "./only-taken.ts";
import { startPhones } from "./phones.ts";
import { PROVIDERS } from "./providers.ts";

export interface IngestMemory {
  readonly deliveries: number;
  readonly idleMb: number;
  /** After each tenth of them was taken. */
  readonly waitingMb: readonly number[];
  /** After each tenth of them was answered. */
  readonly answeredMb: readonly number[];
}

const PROVIDER = "provider-a";
const CONVERSATIONS = 1_000;
const SETTLE_MS = 3_000;
const LOOK_AGAIN_MS = 20;
/** Beyond it something hangs. */
const PATIENCE_MS = 300_000;

export async function measureIngestMemory(deliveries: number): Promise<IngestMemory> {
  await using stack = new AsyncDisposableStack();
  const phones = stack.use(await startPhones());
  const daemon = await startDaemon(PROVIDERS[PROVIDER]!.section(phones.url));
  stack.defer(() => daemon.stop());
  let replies = 0;
  phones.onReply = () => (replies += 1);
  await pause(SETTLE_MS);
  const idleMb = anonymousMb(daemon.pid);
  const waitingMb: number[] = [];
  const answeredMb: number[] = [];
  const count = Math.ceil(deliveries / 10);
  for (let tenth = 0; tenth < 10; tenth += 1) {
    onlyTaken(
      await load({
        port: daemon.port,
        connections: 50,
        seconds: 600,
        warmSeconds: 0,
        deliveries: { provider: PROVIDER, count, conversations: CONVERSATIONS, from: tenth * count },
      }),
    );
    waitingMb.push(anonymousMb(daemon.pid));
    await until(() => replies >= (tenth + 1) * count);
    answeredMb.push(anonymousMb(daemon.pid));
  }
  return { deliveries: 10 * count, idleMb, waitingMb, answeredMb };
}

async function until(isSo: () => boolean): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > endsAt) throw new Error("not every delivery was answered");
    await pause(LOOK_AGAIN_MS);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
