/** `record` and `begin`: they return at once, never throw, and hand on a trace as the standard has it. */
import { type FeatureDefinition, isTraceparent, type Observer, type WorkWatch } from "@svc/contract";
import { demand, type Check } from "../../check.ts";
import { beginAll, constructed, endAll, type ObserverSubject, opened, tellAll } from "./opened.ts";
import { eventSamples, type Name, workSamples } from "./samples.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const usual: Name = (kind) => `some_${kind}`;

/** Names that break code which uses them as keys, measures them, or writes them. */
const HOSTILE: readonly string[] = [
  "",
  "__proto__",
  "constructor",
  'a "quoted"\nname\\',
  "\u0000\u2028\ud800",
  "x".repeat(100_000),
];

export const watchChecks = (definition: FeatureDefinition, subject: ObserverSubject): Check[] => [
  {
    name: "it contributes an observer",
    run: () => opened(definition, subject, () => undefined),
  },
  {
    name: "record takes every event, and returns nothing to wait for",
    run: () =>
      opened(definition, subject, ({ observer }) => {
        for (const event of Object.values(eventSamples(usual))) {
          const returned: unknown = observer.record(event);
          demand(returned === undefined, `of ${event.type} it returns something`);
        }
      }),
  },
  {
    name: "begin takes every kind of work, and its end returns nothing to wait for",
    run: () =>
      opened(definition, subject, ({ observer }) => {
        for (const [kind, watch] of Object.entries(beginAll(observer, workSamples(usual)))) {
          if (watch === undefined) continue;
          demand(typeof watch.end === "function", `of ${kind} it can't be told the end`);
          const sample = workSamples(usual)[kind as "turn"];
          const returned: unknown = (watch as WorkWatch<"turn">).end(sample.good, 1_767_225_601_000);
          demand(returned === undefined, `the end of ${kind} returns something`);
        }
      }),
  },
  {
    name: "it throws at no name, however strange",
    run: () =>
      opened(definition, subject, ({ observer }) => {
        for (const name of HOSTILE) tellAll(observer, () => name);
      }),
  },
  {
    name: "it throws at no number, however strange",
    run: () =>
      opened(definition, subject, ({ observer }) => {
        for (const number of [Number.NaN, Infinity, -1, 0, Number.MAX_VALUE]) strangeNumbers(observer, number);
      }),
  },
  {
    name: "before it is registered and after its shutdown it throws at nothing",
    async run() {
      const { made } = await constructed(definition, subject);
      demand(made.observer !== undefined, "it contributes no observer");
      tellAll(made.observer, usual);
      await opened(definition, subject, async ({ observer, shutdown }) => {
        const watched = beginAll(observer, workSamples(usual));
        await shutdown();
        endAll(watched, workSamples(usual), "good");
        tellAll(observer, usual);
      });
    },
  },
  {
    name: "its shutdown leaves no timer behind",
    run: () =>
      opened(definition, subject, async ({ observer, context, shutdown }) => {
        tellAll(observer, usual);
        await shutdown();
        demand(context.clock.waiting === 0, `${context.clock.waiting} timers wait`);
      }),
  },
  {
    name: "what it hands on is a traceparent, of the trace it was given",
    run: () =>
      opened(definition, subject, ({ observer }) => {
        for (const parent of [undefined, PARENT]) {
          for (const [kind, watch] of Object.entries(beginAll(observer, workSamples(usual), parent))) {
            const own = watch?.traceparent;
            if (own === undefined) continue;
            demand(isTraceparent(own), `of ${kind} it hands on something else`);
            demand(parent === undefined || traceOf(own) === traceOf(parent), `${kind} is of another trace`);
            demand(own !== parent, `${kind} is handed on as its own parent`);
          }
        }
      }),
  },
  {
    name: "it wants to know what is said only where the config says so",
    run: () =>
      opened(definition, subject, ({ observer }) => {
        if (subject.config["otel_record_content"] === true) return;
        for (const [kind, watch] of Object.entries(beginAll(observer, workSamples(usual)))) {
          demand(watch?.content === undefined, `of ${kind} it wants to know what is said`);
        }
      }),
  },
];

const traceOf = (traceparent: string): string => traceparent.slice(3, 35);

function strangeNumbers(observer: Observer, number: number): void {
  const events = eventSamples(usual);
  const usage = { inputTokens: number, outputTokens: number, costUsd: number };
  observer.record({ ...events["turn-end"], ...usage, durationMs: number });
  observer.record({ ...events["sop-run-end"], durationMs: number });
  const works = workSamples(usual);
  for (const startedAtMs of [0, number]) {
    const begun = { parent: undefined, startedAtMs };
    observer.begin?.({ kind: "request", facts: works.request.facts, ...begun })?.end({ status: number }, number);
    const ended = { error: undefined, ...usage };
    observer.begin?.({ kind: "turn", facts: works.turn.facts, ...begun })?.end(ended, number);
    const called = { kind: "model-call", facts: { ...works["model-call"].facts, step: number } } as const;
    observer.begin?.({ ...called, ...begun })?.end(ended, number);
    const exited = { outcome: "exited", exitCode: number } as const;
    observer.begin?.({ kind: "command", facts: works.command.facts, ...begun })?.end(exited, number);
  }
}
