/** `GET /metrics`, as long as no feature has metrics to tell. */
import * as v from "valibot";
import type { RouteSpec } from "../routes/spec.ts";
import { Reply } from "./reply.ts";

/** As the text exposition format wants it. */
const TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const METRICS: RouteSpec = {
  method: "GET",
  path: "/metrics",
  access: "public",
  summary: "Tells numbers in the text exposition format.",
  answers: { 200: { description: "Metrics, or a comment that says how to have them.", body: v.string(), type: TYPE } },
};

export const METRICS_HINT = new Reply(
  200,
  TYPE,
  '# metrics are off: they need the build feature "observability-metrics" and [observability] backend = "metrics"\n',
);
