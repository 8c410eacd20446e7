/**
 * The whole way of a message: from the moment a delivery is sent to the moment the built-in model's answer has reached the
 * platform. Each conversation has one message on the way at a time, as people do.
 */
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { startDaemon } from "../gateway.ts";
import { cpuUs, quantile } from "../load.ts";
import { median } from "../measure.ts";
import { startPhones } from "./phones.ts";
import { phoneOf, PROVIDERS } from "./providers.ts";

export interface WholeWay {
  readonly conversations: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU microseconds of the daemon per message. */
  readonly cpuUs: number;
}

/** What compiles a program as it runs needs some ten thousand messages for it. */
const WARM_SECONDS = 6;
const WARM_WIDTH = 50;

export async function measureWholeWay(rounds: number, seconds: number): Promise<WholeWay[]> {
  const lines: WholeWay[] = [];
  for (const conversations of [1, 50]) {
    const results: WholeWay[] = [];
    for (let round = 0; round < rounds; round += 1) results.push(await measured(conversations, seconds));
    const middle = (number: (result: WholeWay) => number): number => median(results.map(number));
    lines.push({
      conversations,
      perSecond: middle(({ perSecond }) => perSecond),
      p50Ms: middle(({ p50Ms }) => p50Ms),
      p99Ms: middle(({ p99Ms }) => p99Ms),
      cpuUs: middle((result) => result.cpuUs),
    });
  }
  return lines;
}

async function measured(conversations: number, seconds: number): Promise<WholeWay> {
  await using stack = new AsyncDisposableStack();
  const phones = stack.use(await startPhones());
  const { path, section, delivery } = PROVIDERS["provider-a"]!;
  const daemon = await startDaemon(section(phones.url));
  stack.defer(() => daemon.stop());
  const deliverer = stack.use(startDeliverer({ url: () => `http://127.0.0.1:${daemon.port}${path}`, attempts: 1 }));

  const replied = new Map<string, () => void>();
  phones.onReply = (to) => replied.get(to)?.();
  let sent = 0;
  const talk = async (conversation: number, endsAt: number): Promise<number[]> => {
    const times: number[] = [];
    while (performance.now() < endsAt) {
      const message = delivery((sent += 1), conversation, Date.now());
      const reply = new Promise<void>((resolve) => replied.set(phoneOf(conversation).slice(1), resolve));
      const sentAt = performance.now();
      const [{ acknowledged }] = await Promise.all([deliverer.deliver(message), reply]);
      if (!acknowledged) throw new Error("a delivery was not taken");
      times.push(performance.now() - sentAt);
    }
    return times;
  };
  const during = async (time: number, width: number): Promise<number[]> => {
    const endsAt = performance.now() + time * 1000;
    const talks = Array.from({ length: width }, (_, conversation) => talk(conversation, endsAt));
    return (await Promise.all(talks)).flat();
  };

  await during(WARM_SECONDS, WARM_WIDTH);
  const cpuBefore = cpuUs(daemon.pid);
  const startedAt = performance.now();
  const times = await during(seconds, conversations);
  const took = (performance.now() - startedAt) / 1000;
  return {
    conversations,
    perSecond: times.length / took,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    cpuUs: (cpuUs(daemon.pid) - cpuBefore) / times.length,
  };
}
