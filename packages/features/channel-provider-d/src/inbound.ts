/** What a delivery says: a message of a person, a reaction, or nothing that is answered. */
import type { Inbound, Json } from "@svc/contract";
import * as v from "valibot";
import { inboundOfActivity } from "./activity.ts";
import type { Surroundings } from "./fields.ts";
import { inboundOfLegacy } from "./legacy.ts";

/** Undefined unless it is a message or a reaction from a person, not a bot. */
export function inboundOf(payload: Json, surroundings: Surroundings): Inbound | undefined {
  const type = v.safeParse(v.object({ type: v.string() }), payload);
  if (!type.success) return undefined;
  return type.output.type === "message"
    ? inboundOfLegacy(payload, surroundings)
    : inboundOfActivity(payload, surroundings);
}
