/** `GET /metrics`: the numbers of the feature that has them, or a comment that says how to have them. */
import type { Exposition, Logger } from "@svc/contract";
import type { Ongoing } from "@svc/runtime";
import * as v from "valibot";
import type { Handle } from "../middleware/pipeline.ts";
import { errorReply, Reply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import type { ThrottledLog } from "../throttled-log.ts";
import type { RouteSpec } from "./route.ts";

/** As the text exposition format wants it. */
const TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const METRICS: RouteSpec = {
  method: "GET",
  path: "/metrics",
  access: "public",
  summary: "Tells numbers in the text exposition format.",
  answers: { 200: { description: "Metrics, or a comment that says how to have them.", body: v.string(), type: TYPE } },
  errors: ["INTERNAL"],
};

export interface MetricsDeps {
  /** The feature stays in use as long as a caller waits for its metrics. */
  readonly ongoing: Ongoing;
  readonly throttledLog: ThrottledLog;
  readonly send: Send;
  readonly log: Logger;
}

export interface MetricsSettings {
  /** The content of `GET /metrics`. */
  readonly exposition: Exposition | undefined;
  /** The answer without an exposition: one line on how to enable it. */
  readonly metricsHint: string;
}

export function metricsHandle({ exposition, metricsHint }: MetricsSettings, deps: MetricsDeps): Handle {
  if (exposition === undefined) {
    const hint = new Reply(200, TYPE, `# ${metricsHint}\n`);
    return () => hint;
  }
  const { ongoing, throttledLog, send, log } = deps;
  const made = async (): Promise<Reply> => {
    try {
      return new Reply(200, TYPE, await ongoing.during(() => exposition.text()));
    } catch (error) {
      const times = throttledLog.note("metrics");
      // What was thrown is a library's, and may be about anything.
      const threw = error instanceof Error ? error.constructor.name : typeof error;
      if (times > 0) log.error("the metrics could not be told", { threw, times });
      return errorReply("INTERNAL");
    }
  };
  // The route is public: concurrent callers share one rendering.
  let pending: Promise<Reply> | undefined;
  return (incoming, outgoing) => {
    pending ??= made().finally(() => (pending = undefined));
    void pending.then((reply) => send(incoming, outgoing, reply));
    return undefined;
  };
}
