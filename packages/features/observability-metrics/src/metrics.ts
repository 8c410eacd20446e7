import type { Contributions, FeatureContext } from "@svc/contract";
import type { Metrics } from "./open-metrics.ts";

export function create(context: FeatureContext<unknown>): Contributions {
  let metrics: Metrics | undefined;
  return {
    observer: {
      record: (event) => metrics?.record(event),
      begin: (work) => metrics?.begin(work),
      exposition: { text: async () => (await metrics?.exposition.text()) ?? "" },
    },
    async register(signal) {
      const { openMetrics } = await import("./open-metrics.ts");
      signal.throwIfAborted();
      metrics = openMetrics(context);
    },
    async shutdown() {
      metrics?.close();
    },
  };
}
