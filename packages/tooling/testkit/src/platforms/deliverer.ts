/** Posts deliveries as a platform does: again until it gets a 200, sometimes twice, and not always in order. */
import type { SampleDelivery } from "@svc/contract";
import { Agent, request } from "node:http";
import { shuffled } from "./seeded-random.ts";

export interface DelivererOptions {
  /** Where to post, e.g. `http://127.0.0.1:42617/provider-a`; asked for each attempt, as a restart may move it. */
  readonly url: () => string;
  /** How often one delivery is tried. Default: 10. */
  readonly attempts?: number;
  /** Waits before the next attempt of this number (from 1). Default: not at all. */
  readonly pause?: (attempt: number) => Promise<void>;
  /** Gives up waiting for an answer when this resolves: the platform's own time limit. Default: never. */
  readonly patience?: () => Promise<void>;
}

export interface Delivered {
  /** It was answered 200, so it must never be lost. */
  readonly acknowledged: boolean;
  /** Status of each attempt; 0 where no answer came. */
  readonly statuses: readonly number[];
}

export interface DeliverAllOptions {
  /** How many are on the way at the same time. Default: 1. */
  readonly width?: number;
  /** Share of deliveries, from 0 to 1, that are delivered once more although they were acknowledged. */
  readonly duplicates?: number;
  /** How many places one may be early or late. Default: in order. */
  readonly disorder?: number;
  /** Decides both; needed with either. */
  readonly random?: () => number;
}

export interface Deliverer extends Disposable {
  /** A function makes each attempt anew: a fresh timestamp, a fresh signature. */
  deliver(delivery: SampleDelivery | (() => SampleDelivery)): Promise<Delivered>;
  /** Results in the order of `deliveries`. */
  deliverAll(
    deliveries: readonly (SampleDelivery | (() => SampleDelivery))[],
    options?: DeliverAllOptions,
  ): Promise<Delivered[]>;
  /** So far. */
  readonly counts: {
    readonly attempts: number;
    readonly acknowledged: number;
    readonly duplicates: number;
    readonly givenUp: number;
  };
}

export function startDeliverer({ url, attempts = 10, pause, patience }: DelivererOptions): Deliverer {
  const agent = new Agent({ keepAlive: true });
  const counts = { attempts: 0, acknowledged: 0, duplicates: 0, givenUp: 0 };

  const deliver: Deliverer["deliver"] = async (delivery) => {
    const statuses: number[] = [];
    while (statuses.length < attempts) {
      if (statuses.length > 0) await pause?.(statuses.length);
      counts.attempts += 1;
      const status = await post(agent, url(), typeof delivery === "function" ? delivery() : delivery, patience);
      statuses.push(status);
      if (status !== 200) continue;
      counts.acknowledged += 1;
      return { acknowledged: true, statuses };
    }
    counts.givenUp += 1;
    return { acknowledged: false, statuses };
  };

  return {
    deliver,
    counts,
    async deliverAll(deliveries, { width = 1, duplicates = 0, disorder = 0, random = () => 1 } = {}) {
      const results: Delivered[] = [];
      const order = shuffled([...deliveries.entries()], disorder, random);
      const next = order.values();
      const worker = async (): Promise<void> => {
        for (const [index, delivery] of next) {
          const delivered = await deliver(delivery);
          results[index] = delivered;
          if (!delivered.acknowledged || random() >= duplicates) continue;
          counts.duplicates += 1;
          await post(agent, url(), typeof delivery === "function" ? delivery() : delivery, patience);
        }
      };
      await Promise.all(Array.from({ length: width }, worker));
      return results;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** The status it was answered with; 0 without an answer. */
function post(
  agent: Agent,
  url: string,
  { method, query, headers, body }: SampleDelivery,
  patience: (() => Promise<void>) | undefined,
): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = request(`${url}${query}`, {
      method,
      headers: { ...headers, "content-length": body.length },
      agent,
    });
    outgoing.on("response", (response) => {
      response.on("error", () => resolve(0));
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    outgoing.on("error", () => resolve(0));
    outgoing.end(body);
    void patience?.().then(() => outgoing.destroy());
  });
}
