/** Whole turns of two builds, in pairs that take turns: what a change costs, with the machine's own ups and downs taken out. */
import { BINARY, startGateway } from "./gateway.ts";
import { median } from "./measure.ts";
import { load } from "./server.ts";

export interface Pair {
  readonly connections: number;
  /** This build's rate over the other's, one number a round. */
  readonly ratios: readonly number[];
  readonly median: number;
}

/** `against`: the other binary. */
export async function measurePairs(against: string, rounds: number, seconds: number): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const connections of [1, 10, 50]) {
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // Who goes first changes, or whatever the first one leaves behind would always be the second one's burden.
      const order = round % 2 === 0 ? [against, BINARY] : [BINARY, against];
      const rates = new Map<string, number>();
      for (const binary of order) rates.set(binary, await rate(binary, connections, seconds));
      ratios.push(rates.get(BINARY)! / rates.get(against)!);
    }
    pairs.push({ connections, ratios, median: median(ratios) });
  }
  return pairs;
}

async function rate(binary: string, connections: number, seconds: number): Promise<number> {
  const gateway = await startGateway(0, binary);
  const { perSecond } = await load({
    port: gateway.port,
    path: "/webhook",
    connections,
    seconds,
    warmSeconds: 1,
    headers: [`authorization: Bearer ${gateway.token}`, "x-session-id: bench-{{c}}"],
    body: '{"message":"hello from the bench"}',
    pid: gateway.pid,
  });
  await gateway.stop();
  return perSecond;
}
