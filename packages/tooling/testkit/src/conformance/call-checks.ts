/**
 * Execution takes the fast path: a call repeats no request of the registration, such as one that validates a credential. The suite
 * compares the requests: a tool's call sends none of those that `register` sent.
 */
import type { FeatureDefinition, FetchOptions } from "@svc/contract";
import { type Check, demand, outcomeOf, errorText } from "../check.ts";
import { fakeToolContext } from "../fake-tool-context.ts";
import { type FeatureSubject, instanceOf } from "./instance.ts";

export const callChecks = (definition: FeatureDefinition, subject: FeatureSubject): Check[] => [
  {
    name: "no call asks again what registration asked",
    async run() {
      const asked: string[] = [];
      const answer = (url: string, options: FetchOptions = {}) => {
        asked.push(`${options.method ?? "GET"} ${url}`);
        return subject.fetch?.(url, options) ?? {};
      };
      const { made } = await instanceOf(definition, subject.config, { fetch: answer });
      const { register, tools = [] } = made;
      if (register === undefined || tools.length === 0) return;
      const registered = await outcomeOf(() => made.register?.(new AbortController().signal));
      const why = "error" in registered ? errorText(registered.error) : "";
      demand(registered.kind === "resolved", `register() ${registered.kind} with the answers of \`fetch\`: ${why}`);
      const validation = new Set(asked.splice(0));
      for (const { name, run } of tools) {
        const input = subject.inputs?.[name];
        demand(input !== undefined, `\`inputs\` has none for ${name}`);
        for (let time = 0; time < 2; time += 1) await outcomeOf(() => run(input, fakeToolContext({ fetch: answer })));
        const again = asked.splice(0).filter((request) => validation.has(request));
        demand(again.length === 0, `${name} asks again: ${again.join(", ")}`);
      }
      await outcomeOf(() => made.shutdown?.());
    },
  },
];
