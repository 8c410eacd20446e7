// What is part of what, and which traces are recorded: a trace with holes tells the wrong story.
import { isTraceparent, type WorkKind, type WorkWatch } from "@svc/contract";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openFeature } from "./open.ts";
import { FACTS, KINDS, RESULTS } from "./samples.ts";
import type { SinkSpan } from "./sink.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const theirs = (flags: string): string => `00-${TRACE}-b7ad6b7169203331-${flags}`;
const flagsOf = (watch: WorkWatch | undefined): string | undefined => watch?.traceparent?.slice(-2);

test("a child is of its parent's trace, and below it", async () => {
  await using feature = await openFeature();
  const now = feature.context.clock.now();
  const turn = feature.begin("turn", FACTS.turn)!;
  feature.begin("model-call", FACTS["model-call"], turn.traceparent)!.end(RESULTS["model-call"], now);
  turn.end(RESULTS.turn, now);
  const [call, whole] = await feature.told();
  expect(call).toMatchObject({ traceId: whole!.traceId, parentSpanId: whole!.spanId });
  expect(whole!.parentSpanId).toBeUndefined();
  expect(turn.traceparent).toBe(`00-${whole!.traceId}-${whole!.spanId}-01`);
});

describe("a request from outside", () => {
  test("goes on with the caller's trace", async () => {
    await using feature = await openFeature();
    feature.begin("request", FACTS.request, theirs("01"))!.end({ status: 200 }, feature.context.clock.now());
    expect(await feature.told()).toMatchObject([{ traceId: TRACE, parentSpanId: "b7ad6b7169203331" }]);
  });

  test.each(["01", "03"])(
    "is recorded where the caller records it (%s), whatever otel_sampling says",
    async (flags) => {
      await using feature = await openFeature({ otel_sampling: 0 });
      expect(flagsOf(feature.begin("request", FACTS.request, theirs(flags)))).toBe("01");
    },
  );

  test("is ours to decide where the caller has not", async () => {
    await using all = await openFeature({ otel_sampling: 1 });
    expect(flagsOf(all.begin("request", FACTS.request, theirs("00")))).toBe("01");
    await using none = await openFeature({ otel_sampling: 0 });
    expect(none.begin("request", FACTS.request, theirs("00"))?.traceparent).toMatch(new RegExp(`^00-${TRACE}-.*-00$`));
  });
});

describe("a trace that is not recorded", () => {
  test("says so to whatever is part of it, and leaves nothing", async () => {
    await using feature = await openFeature({ otel_sampling: 0, otel_record_content: true });
    const request = feature.begin("request", FACTS.request)!;
    const turn = feature.begin("turn", FACTS.turn, request.traceparent)!;
    for (const watch of [request, turn]) {
      expect(isTraceparent(watch.traceparent!)).toBe(true);
      expect(flagsOf(watch as WorkWatch)).toBe("00");
      expect(watch.content).toBeUndefined();
    }
    turn.end(RESULTS.turn, feature.context.clock.now());
    request.end({ status: 200 }, feature.context.clock.now());
    expect(await feature.told()).toEqual([]);
    expect(feature.sink.requests).toEqual([]);
  });

  test("stays so for what others did of it, a restart between, whatever otel_sampling says now", async () => {
    await using feature = await openFeature({ otel_sampling: 1 });
    for (const kind of KINDS.filter((kind) => kind !== "request")) {
      expect(feature.begin(kind, FACTS[kind], theirs("00"))?.traceparent).toBe(theirs("00"));
    }
  });
});

test("otel_sampling is the share of new traces that are recorded", async () => {
  await using feature = await openFeature({ otel_sampling: 0.25 });
  const flags = Array.from({ length: 4_000 }, () => flagsOf(feature.begin("turn", FACTS.turn) as WorkWatch));
  const share = flags.filter((flag) => flag === "01").length / flags.length;
  // Six standard deviations of a binomial: once in five hundred million runs.
  expect(Math.abs(share - 0.25)).toBeLessThan(0.042);
});

/** A run of the fixture: pieces of work that begin, each part of an earlier one or of none, and end in any order. */
const fixture = fc.record({
  works: fc.array(fc.record({ kind: fc.constantFrom(...KINDS), parent: fc.option(fc.nat(), { nil: undefined }) }), {
    minLength: 1,
    maxLength: 30,
  }),
  order: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
  share: fc.constantFrom(0, 0.5, 1),
});

test("in whatever order things begin and end, ids are well formed, children link, and no trace has a hole", async () => {
  await fc.assert(
    fc.asyncProperty(fixture, async ({ works, order, share }) => {
      await using feature = await openFeature({ otel_sampling: share });
      const begun: { readonly kind: WorkKind; readonly watch: WorkWatch; readonly parent: string | undefined }[] = [];
      for (const { kind, parent: index } of works) {
        // Nothing is told to be part of a request but what the request is for: a request has no parent of ours.
        const parent =
          index === undefined || kind === "request" || begun.length === 0
            ? undefined
            : begun[index % begun.length]!.watch.traceparent;
        begun.push({ kind, parent, watch: feature.begin(kind, FACTS[kind], parent) as WorkWatch });
      }
      const now = feature.context.clock.now();
      const ends = begun.map((work, index) => ({ ...work, at: order[index] ?? 0 })).toSorted((a, b) => a.at - b.at);
      for (const { kind, watch } of ends) {
        watch.end(RESULTS[kind] as never, now);
      }
      const spans = await feature.told();
      const recorded = begun.filter(({ watch }) => watch.traceparent!.endsWith("-01"));
      expect(spans.map(idOf).toSorted()).toEqual(recorded.map(({ watch }) => watch.traceparent).toSorted());
      const known = new Set(spans.map(idOf));
      for (const { watch, parent } of begun) {
        expect(isTraceparent(watch.traceparent!)).toBe(true);
        if (parent === undefined) continue;
        expect(watch.traceparent!.slice(0, 35)).toBe(parent.slice(0, 35));
        expect(watch.traceparent!.slice(-2)).toBe(parent.slice(-2));
      }
      const parents = spans.filter(({ parentSpanId }) => parentSpanId !== undefined).map(parentOf);
      expect(parents.filter((parent) => !known.has(parent))).toEqual([]);
    }),
    { numRuns: cases(60) },
  );
});

const idOf = ({ traceId, spanId }: SinkSpan): string => `00-${traceId}-${spanId}-01`;
const parentOf = ({ traceId, parentSpanId }: SinkSpan): string => `00-${traceId}-${parentSpanId}-01`;
