/** What `GET /metrics` costs with as many series as a busy service could have: how long, and how long nothing else runs. */
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import definition from "@svc/observability-metrics";

export interface Scrape {
  readonly series: number;
  /** Milliseconds, median and worst. */
  readonly medianMs: number;
  readonly worstMs: number;
  /** Longest time for which the event loop did nothing else, median and worst of the scrapes. */
  readonly medianBlockedMs: number;
  readonly worstBlockedMs: number;
}

const ROUNDS = 21;

/** With at least `wanted` series. */
export async function measureScrape(wanted: number): Promise<Scrape> {
  const { create } = await definition.load();
  const { observer, register, shutdown } = create(fakeFeatureContext<never>({ backend: "metrics" } as never));
  await register?.(new AbortController().signal);
  const text = (): Promise<string> => observer!.exposition!.text();
  for (let route = 0; seriesIn(await text()) < wanted; route += 1) {
    for (const status of [200, 400, 401, 404, 429, 500]) {
      const facts = { method: "POST", route: `/api/route-${route}` };
      observer!.begin?.({ kind: "request", facts, parent: undefined, startedAtMs: 0 })?.end({ status }, 3);
    }
  }
  const series = seriesIn(await text());
  const scrapes = [];
  for (let round = 0; round < ROUNDS; round += 1) scrapes.push(await timed(text));
  await shutdown?.();
  const times = scrapes.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const blocked = scrapes.map(({ blockedMs }) => blockedMs).toSorted((a, b) => a - b);
  const middle = Math.floor(ROUNDS / 2);
  return {
    series,
    medianMs: times[middle]!,
    worstMs: times.at(-1)!,
    medianBlockedMs: blocked[middle]!,
    worstBlockedMs: blocked.at(-1)!,
  };
}

const seriesIn = (text: string): number =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;

async function timed(work: () => Promise<unknown>): Promise<{ ms: number; blockedMs: number }> {
  let blockedMs = 0;
  let lastMs = performance.now();
  let isOver = false;
  const look = (): void => {
    const nowMs = performance.now();
    blockedMs = Math.max(blockedMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const startedMs = performance.now();
  await work();
  const ms = performance.now() - startedMs;
  isOver = true;
  look();
  return { ms, blockedMs };
}
