/** Registration, Execution and Shutdown: can be called off, skipped and repeated; what was validated once is not asked again. */
import type { FeatureDefinition } from "@svc/contract";
import { type Check, demand, outcomeOf, PROMPT_MS, errorText } from "../check.ts";
import { callChecks } from "./call-checks.ts";
import { type FeatureSubject, type Instance, instanceOf } from "./instance.ts";

export const phaseChecks = (definition: FeatureDefinition, subject: FeatureSubject): Check[] => [
  {
    name: "shutdown is safe without register, and when it is called twice",
    async run() {
      await endTwice((await instanceOf(definition, subject.config)).made);
    },
  },
  {
    name: "shutdown is safe when it has registered and run, and when it is called twice",
    async run() {
      const { made } = await instanceOf(definition, subject.config, subject);
      const stop = new AbortController();
      // With the answers that it is given it comes through, or it does not: it has to be ended all the same.
      await outcomeOf(() => made.register?.(new AbortController().signal));
      const running = outcomeOf(() => made.run?.(stop.signal));
      stop.abort(new Error("the service stops"));
      demand((await running).kind !== "hung", `run() goes on for ${PROMPT_MS} ms under an aborted signal`);
      await endTwice(made);
    },
  },
  {
    name: "register rejects at once under an aborted signal, and shutdown is safe afterwards",
    async run() {
      const { made } = await instanceOf(definition, subject.config);
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
      const { made } = await instanceOf(definition, subject.config);
      if (made.run === undefined) return;
      const outcome = await outcomeOf(() => made.run?.(AbortSignal.abort(new Error("called off"))));
      demand(outcome.kind !== "hung", `run() goes on for ${PROMPT_MS} ms under an aborted signal`);
      await outcomeOf(() => made.shutdown?.());
    },
  },
  ...callChecks(definition, subject),
];

async function endTwice(made: Instance["made"]): Promise<void> {
  for (const time of ["first", "second"]) {
    const outcome = await outcomeOf(() => made.shutdown?.());
    demand(outcome.kind !== "hung", `the ${time} shutdown() hangs`);
    if (outcome.kind === "rejected") throw new Error(`the ${time} shutdown() failed: ${errorText(outcome.error)}`);
  }
}
