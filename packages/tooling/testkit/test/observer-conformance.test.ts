// observerConformance must fail for an observer that breaks a rule: one deliberately broken fake per rule, at least.
import { type Contributions, defineFeature, type FeatureContext, type Observer, type Readings } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { Check } from "../src/check.ts";
import { observerChecks, parseExposition } from "../src/conformance/observer-conformance.ts";
import { brokenRules } from "./broken-names.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const HEAD = "# HELP works_total Work.\n# TYPE works_total counter\n";

type Make = (context: FeatureContext<unknown>) => Contributions;

/** Counts work by the names of its kinds; traces it, so that every rule has something to look at. */
const sound: Make = ({ readings }) => {
  const counts = new Map<string, number>();
  let spans = 0;
  return {
    observer: {
      record: () => undefined,
      begin: ({ kind, parent }) => ({
        traceparent: `00-${parent?.slice(3, 35) ?? TRACE}-${(spans += 1).toString(16).padStart(16, "0")}-01`,
        end: () => void counts.set(kind, (counts.get(kind) ?? 0) + 1),
      }),
      exposition: {
        async text() {
          const waiting = standing(readings);
          const lines = [...counts].map(([kind, count]) => `works_total{kind="${kind}"} ${count}\n`);
          return `${HEAD}${lines.join("")}# HELP waiting Messages.\n# TYPE waiting gauge\n${waiting}`;
        },
      },
    },
  };
};

function standing(readings: () => Readings): string {
  try {
    return `waiting ${readings().inbox.count}\n`;
  } catch {
    return "";
  }
}

/** The sound one with parts of its own. */
const but =
  (parts: Partial<Observer> | ((context: FeatureContext<unknown>) => Partial<Observer>)): Make =>
  (context) => {
    const own = typeof parts === "function" ? parts(context) : parts;
    return { observer: { ...sound(context).observer!, ...own } };
  };

const exposing = (text: () => Promise<string>): Make => but({ exposition: { text } });

/** A family with what the names of the turns' agents make of it. */
const listing = (line: (agent: string, index: number) => string): Make =>
  but(() => {
    const lines = new Map<string, string>();
    return {
      begin: ({ kind, facts }) => {
        if (kind === "turn") {
          const { agent } = facts as { agent: string };
          if (!lines.has(agent)) lines.set(agent, line(agent, lines.size));
        }
        return undefined;
      },
      exposition: { text: async () => HEAD + [...lines.values()].join("") },
    };
  });

const checksOf = (make: Make, config: Readonly<Record<string, unknown>> = { backend: "fake" }): Check[] => {
  const load = () => Promise.resolve({ create: make });
  return observerChecks(defineFeature({ id: "observability-fake", load }), { config });
};

const BROKEN: [fake: string, make: Make, rule: string][] = [
  ["no observer", () => ({}), "it contributes an observer"],
  [
    "a record that is async",
    but({ record: (async () => undefined) as never }),
    "record takes every event, and returns nothing to wait for",
  ],
  [
    "a record that knows a few events",
    but({ record: (event) => void (event as { owner: string }).owner.length }),
    "record takes every event, and returns nothing to wait for",
  ],
  [
    "an end that is async",
    but({ begin: () => ({ end: (async () => undefined) as never }) }),
    "begin takes every kind of work, and its end returns nothing to wait for",
  ],
  [
    "a watch without an end",
    but({ begin: () => ({}) as never }),
    "begin takes every kind of work, and its end returns nothing to wait for",
  ],
  [
    "a begin that knows a few kinds",
    but({ begin: ({ facts }) => (void (facts as { agent: string }).agent.length, undefined) }),
    "begin takes every kind of work, and its end returns nothing to wait for",
  ],
  [
    "an encoder that throws at half a character",
    but({ record: (event) => void encodeURIComponent("agent" in event ? event.agent : "") }),
    "it throws at no name, however strange",
  ],
  [
    "a counter that throws at what is no number",
    but({
      record(event) {
        if (event.type === "sop-run-end" && !Number.isFinite(event.durationMs)) throw new TypeError("not a number");
      },
    }),
    "it throws at no number, however strange",
  ],
  [
    "a length of time that is one",
    but({
      begin: ({ startedAtMs }) => ({
        end: (_, endedAtMs) => void BigInt(endedAtMs - startedAtMs),
      }),
    }),
    "it throws at no number, however strange",
  ],
  [
    "one that needs its register",
    (context) => {
      let events: unknown[] | undefined;
      const observer: Observer = { ...sound(context).observer!, record: (event) => void events!.push(event) };
      return { observer, register: async () => void (events = []) };
    },
    "before it is registered and after its shutdown it throws at nothing",
  ],
  [
    "one that needs not to be shut down",
    (context) => {
      let events: unknown[] | undefined = [];
      const observer: Observer = { ...sound(context).observer!, record: (event) => void events!.push(event) };
      return { observer, shutdown: async () => void (events = undefined) };
    },
    "before it is registered and after its shutdown it throws at nothing",
  ],
  [
    "a timer that goes on",
    (context) => ({ ...sound(context), register: async () => void context.clock.after(1000, () => undefined) }),
    "its shutdown leaves no timer behind",
  ],
  [
    "a shutdown that hangs",
    (context) => ({ ...sound(context), shutdown: () => new Promise(() => undefined) }),
    "its shutdown leaves no timer behind",
  ],
  [
    "a trace of zeros",
    but({ begin: () => ({ traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01`, end: () => undefined }) }),
    "what it hands on is a traceparent, of the trace it was given",
  ],
  [
    "a trace of its own",
    but({ begin: () => ({ traceparent: `00-${"a".repeat(32)}-b7ad6b7169203331-01`, end: () => undefined }) }),
    "what it hands on is a traceparent, of the trace it was given",
  ],
  [
    "the parent handed on",
    but({ begin: ({ parent }) => ({ ...(parent && { traceparent: parent }), end: () => undefined }) }),
    "what it hands on is a traceparent, of the trace it was given",
  ],
  [
    "curiosity",
    but({ begin: () => ({ end: () => undefined, content: () => undefined }) }),
    "it wants to know what is said only where the config says so",
  ],
  [
    "an exposition without a head",
    exposing(async () => "works_total 1\n"),
    "its exposition is valid, before anything has happened and afterwards",
  ],
  [
    "an exposition that tells nothing",
    exposing(async () => HEAD),
    "its exposition is valid, before anything has happened and afterwards",
  ],
  [
    "names that are not escaped",
    listing((agent, index) => `works_total{agent="${agent}",index="${index}"} 1\n`),
    "its exposition is valid, before anything has happened and afterwards",
  ],
  [
    "one reader at a time",
    but(() => {
      let isTelling = false;
      return {
        exposition: {
          async text() {
            if (isTelling) throw new Error("busy");
            isTelling = true;
            await new Promise((resolve) => setImmediate(resolve));
            isTelling = false;
            return `${HEAD}works_total 1\n`;
          },
        },
      };
    }),
    "its exposition is told to many at once",
  ],
  [
    "a label with the sender",
    but(() => {
      const senders = new Set<string>();
      return {
        record: (event) => void (event.type === "message-received" && senders.add(event.sender)),
        exposition: {
          text: async () => HEAD + [...senders].map((sender) => `works_total{sender="${sender}"} 1\n`).join(""),
        },
      };
    }),
    "its exposition has no text, id or name of a person",
  ],
  [
    "a series for every name",
    listing((_agent, index) => `works_total{agent="${index}"} 1\n`),
    "its exposition stops growing, however many names there are",
  ],
  [
    "a stand that must be known",
    but(({ readings }) => ({
      exposition: { text: async () => `${HEAD}works_total ${readings().inbox.count}\n` },
    })),
    "its exposition is told all the same where nobody knows how the service stands",
  ],
];

describe("observerConformance", () => {
  test("a sound observer breaks no rule", async () => {
    expect(await brokenRules(checksOf(sound))).toEqual([]);
  });

  test("one that only sees events neither", async () => {
    expect(await brokenRules(checksOf(() => ({ observer: { record: () => undefined } })))).toEqual([]);
  });

  test("what is said may be wanted where the config says so", async () => {
    const curious = but({ begin: () => ({ end: () => undefined, content: () => undefined }) });
    expect(await brokenRules(checksOf(curious, { otel_record_content: true }))).toEqual([]);
  });

  test.each(BROKEN)("%s", async (_, make, rule) => {
    expect(await brokenRules(checksOf(make))).toContain(rule);
  });

  test("every rule has a fake that breaks it", () => {
    const rules = new Set(BROKEN.map(([, , rule]) => rule));
    const names = checksOf(sound).map(({ name }) => name);
    expect(names.filter((name) => !rules.has(name))).toEqual([]);
  });
});

const HISTOGRAM = "# HELP s Seconds.\n# TYPE s histogram\n";
const PARTS = 's_bucket{le="1"} 1\ns_bucket{le="+Inf"} 2\ns_sum 3.5\ns_count 2\n';

describe("parseExposition", () => {
  test("reads names, labels and numbers", () => {
    const text = `# a comment\n${HEAD}works_total{kind="a \\"b\\"\\\\\\n",of="{x}, y"} 1.5e+3\n\n${HISTOGRAM}${PARTS}`;
    expect(parseExposition(text)).toEqual([
      {
        name: "works_total",
        type: "counter",
        help: "Work.",
        samples: [{ name: "works_total", labels: { kind: 'a "b"\\\n', of: "{x}, y" }, value: 1500 }],
      },
      expect.objectContaining({ name: "s", type: "histogram" }),
    ]);
    expect(parseExposition("")).toEqual([]);
    expect(parseExposition("# only a comment\n")).toEqual([]);
  });

  test.each([
    ["no end", `${HEAD}works_total 1`, "has no end"],
    ["a sample of another family", `${HEAD}other 1\n`, "apart from its family"],
    ["a sample before its type", "# HELP works_total Work.\nworks_total 1\n", "apart from its family"],
    ["a family in two places", `${HEAD}${HISTOGRAM}${HEAD}`, "was there before"],
    ["no help", "# HELP works_total\n# TYPE works_total counter\n", "no help"],
    ["a counter without _total", "# HELP works Work.\n# TYPE works counter\n", "_total is for counters"],
    ["a gauge with _total", "# HELP x_total X.\n# TYPE x_total gauge\n", "_total is for counters"],
    ["a series twice", `${HEAD}works_total{a="1",b="2"} 1\nworks_total{b="2",a="1"} 1\n`, "was there before"],
    ["a quote in a label", `${HEAD}works_total{a="x"y"} 1\n`, "no label"],
    ["a label twice", `${HEAD}works_total{a="1",a="2"} 1\n`, "a label twice"],
    ["a number that is none", `${HEAD}works_total x\n`, "no number"],
    ["a counter below 0", `${HEAD}works_total -1\n`, "below 0"],
    ["text", `${HEAD}metrics are off\n`, "no sample"],
    ["buckets that shrink", `${HISTOGRAM}${PARTS.replace("} 1", "} 3")}`, "do not grow"],
    ["a count beside its buckets", `${HISTOGRAM}${PARTS.replace("s_count 2", "s_count 3")}`, "is not its count"],
    ["no last bucket", `${HISTOGRAM}${PARTS.replace(/.*Inf.*\n/, "")}`, "is not its count"],
    ["no sum", `${HISTOGRAM}${PARTS.replace(/s_sum.*\n/, "")}`, "no sum"],
  ])("throws at %s", (_, text, message) => {
    expect(() => parseExposition(text)).toThrow(message);
  });
});
