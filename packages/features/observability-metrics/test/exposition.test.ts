// A scrape of thousands of series must not be what people wait for: the text is written in slices, and once for all who ask.
import type { Exposition } from "@svc/contract";
import { parseExposition } from "@svc/testkit/conformance/observer-conformance";
import { register as globalRegistry } from "prom-client";
import { describe, expect, test } from "vitest";
import { expositionOf } from "../src/open-metrics.ts";
import { openMetrics, type OpenedMetrics } from "./open-metrics.ts";

const LINES = 10_000;

/** Enough routes for that many series. */
function makeSeries(metrics: OpenedMetrics): void {
  for (let route = 0; route < 180; route += 1) {
    for (const status of [200, 400, 500]) {
      metrics.work("request", { method: "POST", route: `/api/route-${route}` }, { status }, route / 1000);
    }
  }
}

/** How often other work could run while the text was written. */
async function turnsDuring(exposition: Exposition): Promise<{ text: string; turns: number }> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    turns += 1;
    setImmediate(turn);
  };
  setImmediate(turn);
  const text = await exposition.text();
  isOver = true;
  return { text, turns };
}

test("thousands of series are written in slices of some hundred lines", async () => {
  await using metrics = await openMetrics();
  makeSeries(metrics);
  const { text, turns } = await turnsDuring(metrics.observer.exposition!);
  const lines = text.split("\n").length;
  expect(lines).toBeGreaterThan(LINES);
  expect(turns).toBeGreaterThan(lines / 700);
});

test("one feature knows nothing of another, and prom-client's global registry of neither", async () => {
  await using before = await openMetrics();
  before.work("tool-call", { tool: "shell", callId: "c" }, { error: undefined });
  await using afterwards = await openMetrics();
  expect(await afterwards.series("svc_tool_calls_total")).toEqual({});
  expect(await before.series("svc_tool_calls_total")).toEqual({ "tool=shell outcome=ok": 1 });
  expect(globalRegistry.getMetricsAsArray()).toEqual([]);
});

test("what is counted while a text is written leaves every histogram in itself consistent", async () => {
  await using metrics = await openMetrics();
  makeSeries(metrics);
  let isOver = false;
  const count = (): void => {
    if (isOver) return;
    for (let route = 0; route < 180; route += 7) {
      metrics.work("request", { method: "POST", route: `/api/route-${route}` }, { status: 200 }, 0.3);
    }
    setImmediate(count);
  };
  setImmediate(count);
  const text = await metrics.text();
  isOver = true;
  // It throws where buckets, sum and count of one histogram are not of the same moment.
  expect(() => parseExposition(text)).not.toThrow();
});

describe("many who ask at once", () => {
  const slow = (write: () => Promise<string>) =>
    expositionOf({ refresh: async () => undefined, slices: () => [write] });

  test("get one text, and who asks afterwards a new one", async () => {
    let written = 0;
    const exposition = slow(async () => `# ${(written += 1)}\n`);
    const texts = await Promise.all([exposition.text(), exposition.text(), exposition.text()]);
    expect(texts).toEqual(["# 1\n", "# 1\n", "# 1\n"]);
    expect(await exposition.text()).toBe("# 2\n");
  });

  test("are all told of a failure, and who asks afterwards is not", async () => {
    let isBroken = true;
    const exposition = slow(async () => {
      if (isBroken) throw new Error("broken");
      return "# fine\n";
    });
    const asked = [exposition.text(), exposition.text()];
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    isBroken = false;
    expect(await exposition.text()).toBe("# fine\n");
  });
});
