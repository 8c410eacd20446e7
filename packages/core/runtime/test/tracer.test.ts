// Whoever watches must not be able to disturb what is watched, and is told each piece of work once, from beginning to end;
// whoever came too late for the beginning is not told its end.
import type { Observer, Work, WorkResults } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { NO_TRACER, type WatchingObserver, createTracer, currentScope, inScope } from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";

const FACTS = { method: "GET", route: "/health" };
const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function instrumentsOf(...list: Partial<Observer>[]) {
  const clock = new FakeClock();
  const thrown: [string, unknown][] = [];
  let observers: readonly WatchingObserver[] = list.map((observer, index) => ({
    feature: `watcher-${index}`,
    observer: { record: () => {}, ...observer },
  }));
  const threw = (feature: string, error: unknown): void => void thrown.push([feature, error]);
  const tracer = createTracer({ clock, observers: () => observers, threw });
  return { clock, thrown, tracer, replace: (next: readonly WatchingObserver[]) => (observers = next) };
}

/** Keeps what it is told. */
function keeper(traceparent?: string) {
  const begun: Work[] = [];
  const ended: [WorkResults["request"], number][] = [];
  const observer: Partial<Observer> = {
    begin: (work) => {
      begun.push(work as Work);
      return {
        ...(traceparent !== undefined && { traceparent }),
        end: (result, endedAtMs) => ended.push([result as WorkResults["request"], endedAtMs]),
      };
    },
  };
  return { begun, ended, observer };
}

describe("a piece of work", () => {
  test("is told with its beginning, what it is part of, and its end, once", async () => {
    const { begun, ended, observer } = keeper();
    const { clock, tracer } = instrumentsOf(observer);
    const startMs = clock.now();
    const work = inScope({ traceparent: TRACE }, () => tracer.begin("request", FACTS));
    await clock.advance(250);
    work.end({ status: 200 });
    work.end({ status: 500 });
    expect(begun).toEqual([{ kind: "request", facts: FACTS, parent: TRACE, startedAtMs: startMs }]);
    expect(ended).toEqual([[{ status: 200 }, startMs + 250]]);
  });

  test("is part of what its caller says, or of nothing, whatever the scope; and may have begun before", () => {
    const { begun, observer } = keeper();
    const { tracer } = instrumentsOf(observer);
    inScope({ traceparent: TRACE.replace("0af", "1af") }, () => {
      tracer.begin("request", FACTS, { parent: TRACE, startedAtMs: 5 });
      tracer.begin("request", FACTS, { parent: undefined });
    });
    expect(begun.map(({ parent, startedAtMs }) => [parent, startedAtMs])).toEqual([
      [TRACE, 5],
      [undefined, expect.any(Number)],
    ]);
  });

  test("is the innermost of what runs during it, where somebody traces, and keeps the rest of the scope", () => {
    const [first, second] = [keeper(), keeper(TRACE)];
    const { tracer } = instrumentsOf(first.observer, second.observer);
    const work = tracer.begin("request", FACTS);
    expect(work.traceparent).toBe(TRACE);
    const inside = inScope({ request: "b-1" }, () => work.during(currentScope));
    expect(inside).toMatchObject({ request: "b-1", traceparent: TRACE });
    expect(currentScope()).toEqual({});
    const counted = instrumentsOf(first.observer).tracer.begin("request", FACTS);
    expect(inScope({ traceparent: TRACE }, () => counted.during(currentScope))).toEqual({ traceparent: TRACE });
  });
});

describe("whoever watches", () => {
  test("is told although another throws, at the beginning and at the end; whose fault it was is told", () => {
    const error = new Error("broken");
    const fails = (): never => {
      throw error;
    };
    const { begun, ended, observer } = keeper();
    const { tracer, thrown } = instrumentsOf(
      { begin: fails },
      { begin: () => ({ content: fails, end: fails }) },
      observer,
    );
    const work = tracer.begin("request", FACTS);
    work.content("input", "hi");
    expect(() => work.end({ status: 200 })).not.toThrow();
    expect([begun.length, ended.length]).toEqual([1, 1]);
    expect(thrown).toEqual([
      ["watcher-0", error],
      ["watcher-1", error],
      ["watcher-1", error],
    ]);
  });

  test("may come and go with a reload: what has begun is ended with who saw it begin", () => {
    const [before, after] = [keeper(), keeper()];
    const { tracer, replace } = instrumentsOf(before.observer);
    const work = tracer.begin("request", FACTS);
    replace([{ feature: "after", observer: { record: () => {}, ...after.observer } }]);
    work.end({ status: 200 });
    expect([before.ended.length, after.ended.length]).toEqual([1, 0]);
    replace([]);
    expect(tracer.isWatched).toBe(false);
  });

  test("only of events is not told of work, and nothing is prepared for it", () => {
    const { tracer } = instrumentsOf({});
    expect(tracer.isWatched).toBe(false);
    expect(tracer.begin("request", FACTS)).toBe(NO_TRACER.begin("request", FACTS));
  });

  test("may not care for the end of it", () => {
    const { tracer, thrown } = instrumentsOf({ begin: () => undefined });
    expect(() => tracer.begin("request", FACTS).end({ status: 200 })).not.toThrow();
    expect(thrown).toEqual([]);
  });
});
