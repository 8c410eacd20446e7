/** `GET /health`. */
import * as v from "valibot";
import type { Output } from "./schema.ts";

export const HealthReport = v.object({
  status: v.picklist(["ok", "degraded"]),
  instance: v.pipe(v.string(), v.description("Random per start.")),
  units: v.exactOptional(v.array(v.object({ id: v.string(), state: v.string(), reason: v.nullable(v.string()) }))),
  unsigned: v.exactOptional(
    v.pipe(v.array(v.string()), v.description("Channels that take messages without checking a signature.")),
  ),
});
export type HealthReport = Output<typeof HealthReport>;
