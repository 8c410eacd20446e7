/** `GET /metrics`: the numbers of the feature that has them, or a comment that says how to have them. */
import type { Logger } from "@svc/contract";
import type { Ongoing } from "@svc/kernel";
import * as v from "valibot";
import type { Handle } from "../http/listener.ts";
import { errorReply, Reply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";
import type { RareLines } from "../throttled-log.ts";
import type { GatewaySettings } from "../types.ts";
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
  /** The feature is in use as long as anybody waits for its numbers. */
  readonly ongoing: Ongoing;
  readonly rareLines: RareLines;
  readonly send: Send;
  readonly log: Logger;
}

type MetricsSettings = Pick<GatewaySettings, "exposition" | "metricsHint">;

export function metricsHandle({ exposition, metricsHint }: MetricsSettings, deps: MetricsDeps): Handle {
  if (exposition === undefined) {
    const hint = new Reply(200, TYPE, `# ${metricsHint}\n`);
    return () => hint;
  }
  const { ongoing, rareLines, send, log } = deps;
  const made = async (): Promise<Reply> => {
    try {
      return new Reply(200, TYPE, await ongoing.during(() => exposition.text()));
    } catch (error) {
      const times = rareLines.note("metrics");
      // What was thrown is a library's, and may be about anything.
      const threw = error instanceof Error ? error.constructor.name : typeof error;
      if (times > 0) log.error("the metrics could not be told", { threw, times });
      return errorReply("INTERNAL");
    }
  };
  // Anybody may ask: however many do at once, the text is made for all of them together.
  let pending: Promise<Reply> | undefined;
  return (incoming, outgoing) => {
    pending ??= made().finally(() => (pending = undefined));
    void pending.then((reply) => send(incoming, outgoing, reply));
    return undefined;
  };
}
