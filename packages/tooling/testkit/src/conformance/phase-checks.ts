/** Registration and Shutdown: can be called off, can be skipped, can be repeated. */
import type { FeatureDefinition } from "@svc/contract";
import { demand, outcomeOf, PROMPT_MS, told, type Check } from "../check.ts";
import { instanceOf } from "./instance.ts";

export const phaseChecks = (definition: FeatureDefinition, config: unknown): Check[] => [
  {
    name: "shutdown is safe without register, and when it is called twice",
    async run() {
      const { made } = await instanceOf(definition, config);
      for (const time of ["first", "second"]) {
        const outcome = await outcomeOf(() => made.shutdown?.());
        demand(outcome.kind !== "hung", `the ${time} shutdown() hangs`);
        if (outcome.kind === "rejected") throw new Error(`the ${time} shutdown() failed: ${told(outcome.error)}`);
      }
    },
  },
  {
    name: "register rejects at once under an aborted signal, and shutdown is safe afterwards",
    async run() {
      const { made } = await instanceOf(definition, config);
      if (made.register === undefined) return;
      const outcome = await outcomeOf(() => made.register?.(AbortSignal.abort(new Error("called off"))));
      demand(outcome.kind !== "hung", `register() goes on for ${PROMPT_MS} ms under an aborted signal`);
      demand(outcome.kind === "rejected", "register() succeeds under an aborted signal");
      const ended = await outcomeOf(() => made.shutdown?.());
      demand(ended.kind === "resolved", `shutdown() after that ${ended.kind}`);
    },
  },
  {
    name: "run ends at once under an aborted signal",
    async run() {
      const { made } = await instanceOf(definition, config);
      if (made.run === undefined) return;
      const outcome = await outcomeOf(() => made.run?.(AbortSignal.abort(new Error("called off"))));
      demand(outcome.kind !== "hung", `run() goes on for ${PROMPT_MS} ms under an aborted signal`);
      await outcomeOf(() => made.shutdown?.());
    },
  },
];
