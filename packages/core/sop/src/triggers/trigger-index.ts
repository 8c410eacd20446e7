/** Procedures by what starts them: an event meets only those that wait for it, however many there are. */
import type { SopDefinition, SopLibrary, SopTriggerEvent } from "../library/types.ts";
import { type CompiledCondition, compileCondition, isMet, topicOf } from "./match.ts";
import { payloadReader } from "./payload.ts";
import { TopicTree } from "./topic-filter.ts";

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
