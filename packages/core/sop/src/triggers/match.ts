/** Whether an event is what a trigger waits for. */
import type { SopTrigger, SopTriggerEvent } from "../library/types.ts";
import { type Condition, holds, readCondition } from "./condition.ts";
import { type PayloadReader, payloadReader } from "./payload.ts";
import { topicMatches } from "./topic-filter.ts";

/** Exactly and by case; of `mqtt` a filter. `sop`: the procedure it belongs to. */
export const topicOf = (trigger: SopTrigger, sop: string): string => {
  switch (trigger.type) {
    case "webhook":
      return trigger.path;
    case "cron":
      return trigger.expression;
    case "channel_event":
      return trigger.event;
    case "mqtt":
      return trigger.topic;
    case "peripheral":
      return `${trigger.board}/${trigger.signal}`;
    case "manual":
      return sop;
  }
};

/** Condition included. A condition that can't be read is never met. */
export function triggerFits(trigger: SopTrigger, sop: string, event: SopTriggerEvent): boolean {
  if (trigger.type !== event.source) return false;
  const topic = topicOf(trigger, sop);
  if (trigger.type === "mqtt" ? !topicMatches(topic, event.topic) : topic !== event.topic) return false;
  return conditionHolds(trigger.condition, event.payload);
}

export const conditionHolds = (condition: string | undefined, payload: string | null): boolean =>
  isMet(compileCondition(condition), payloadReader(payload));

/** Read once, asked often. */
export type CompiledCondition = Condition | "always" | "never";

export function compileCondition(text: string | undefined): CompiledCondition {
  const read = readCondition(text ?? "");
  return "condition" in read ? read.condition : "never";
}

export const isMet = (condition: CompiledCondition, payload: PayloadReader): boolean =>
  typeof condition === "string" ? condition === "always" : holds(condition, payload);
