/**
 * Traces. Until `register` has loaded the library, and after `shutdown`, nothing is watched; the library's global registries
 * (its current tracer, its current context) are never touched.
 */
import type { Contributions, FeatureContext } from "@svc/contract";
import type { ObservabilityConfig } from "./config.ts";
import type { Tracing } from "./tracing.ts";

export function create(context: FeatureContext<ObservabilityConfig>): Contributions {
  let tracing: Tracing | undefined;
  return {
    observer: {
      // A trace is drawn of work; events tell nothing that its pieces do not.
      record: () => {},
      begin: (work) => tracing?.begin(work),
    },
    async register(signal) {
      signal.throwIfAborted();
      const { openTracing } = await import("./tracing.ts");
      const opened = await openTracing(context);
      if (signal.aborted) await opened.close();
      signal.throwIfAborted();
      tracing = opened;
    },
    async shutdown() {
      const open = tracing;
      tracing = undefined;
      await open?.close();
    },
  };
}
