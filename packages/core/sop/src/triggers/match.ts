/** Whether an event is what a trigger waits for, and the index of procedures by that. */
import type { SopDefinition, SopLibrary, SopTrigger, SopTriggerEvent } from "../library/types.ts";
import { type Condition, type PayloadReader, holds, payloadReader, readCondition } from "./condition.ts";
import { TopicTree, topicMatches } from "./topic-filter.ts";

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
type CompiledCondition = Condition | "always" | "never";

function compileCondition(text: string | undefined): CompiledCondition {
  const read = readCondition(text ?? "");
  return "condition" in read ? read.condition : "never";
}

const isMet = (condition: CompiledCondition, payload: PayloadReader): boolean =>
  typeof condition === "string" ? condition === "always" : holds(condition, payload);

/** Procedures by what starts them: an event meets only those that wait for it, however many there are. */
export type TriggerIndex = Pick<SopLibrary, "matching" | "hasPath" | "crons">;

interface Waiting {
  readonly definition: SopDefinition;
  readonly condition: CompiledCondition;
}

/** `definitions` in the order in which they are answered. */
export function indexTriggers(definitions: readonly SopDefinition[]): TriggerIndex {
  const waiting = new Map<string, Waiting[]>();
  const byFilter = new TopicTree<Waiting>();
  const place = new Map(definitions.map((definition, index) => [definition, index]));
  const crons: ReturnType<SopLibrary["crons"]>[number][] = [];
  for (const definition of definitions) {
    for (const trigger of definition.triggers) {
      const topic = topicOf(trigger, definition.name);
      const entry = { definition, condition: compileCondition(trigger.condition) };
      if (trigger.type === "mqtt") {
        byFilter.add(topic, entry);
        continue;
      }
      const key = keyOf(trigger.type, topic);
      const others = waiting.get(key);
      if (others) others.push(entry);
      else waiting.set(key, [entry]);
      if (trigger.type !== "cron" || definition.isDisabled) continue;
      crons.push({ sop: definition.name, expression: trigger.expression, timezone: trigger.timezone });
    }
  }
  return {
    matching: (event) =>
      event.source === "mqtt"
        ? matching(byFilter.matching(event.topic), event).toSorted((one, other) => place.get(one)! - place.get(other)!)
        : matching(waiting.get(keyOf(event.source, event.topic)) ?? [], event),
    hasPath: (path) => waiting.has(keyOf("webhook", path)),
    crons: () => crons,
  };
}

function matching(candidates: readonly Waiting[], { payload }: SopTriggerEvent): SopDefinition[] {
  const read = payloadReader(payload);
  const met = candidates.filter(({ condition }) => isMet(condition, read));
  return [...new Set(met.map(({ definition }) => definition))];
}

/** No source has a blank in it. */
const keyOf = (source: string, topic: string): string => `${source} ${topic}`;
