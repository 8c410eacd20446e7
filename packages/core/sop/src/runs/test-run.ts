/** A run that a person starts to try a procedure out, with an event that they make up. */
import { SvcError } from "@svc/contract";
import type { SopRun } from "@svc/store";
import type { SopDefinition, SopTriggerEvent } from "../library/types.ts";
import { conditionHolds, topicOf } from "../triggers/match.ts";
import { refusalOf } from "./admission.ts";
import { commit } from "./after-commit.ts";
import { beginRun } from "./begin.ts";
import { sopNamed } from "./dispatch.ts";
import type { RunParts } from "./parts.ts";
import type { SopSample, Starter } from "./types.ts";

/** Throws SOP_UNKNOWN, SOP_INVALID, SOP_NOT_TRIGGERED, SOP_BUSY, TOO_LARGE, STORE_*. */
export async function testRun(parts: RunParts, name: string, sample: SopSample, starter: Starter): Promise<SopRun> {
  const { definition } = sopNamed(parts.library, name);
  const event = sampleEvent(definition, sample);
  const begun = await commit(parts.store, (after) =>
    beginRun(parts, definition, event, starter, after, { isTest: true }),
  );
  if (typeof begun === "string") throw refusalOf(begun);
  return begun;
}

function sampleEvent({ name, triggers }: SopDefinition, { trigger: index, payload }: SopSample): SopTriggerEvent {
  if (index === undefined) return { source: "manual", topic: name, payload };
  const trigger = triggers[index];
  if (!trigger) {
    throw new SvcError("SOP_NOT_TRIGGERED", `This procedure has no trigger ${index + 1}.`, {
      hint: `It has ${triggers.length}. See: svc sop show`,
    });
  }
  if (!conditionHolds(trigger.condition, payload)) {
    throw new SvcError("SOP_NOT_TRIGGERED", "The payload does not meet the condition of this trigger.", {
      hint: "Change the payload, or the condition in SOP.toml.",
    });
  }
  return { source: trigger.type, topic: topicOf(trigger, name), payload };
}
