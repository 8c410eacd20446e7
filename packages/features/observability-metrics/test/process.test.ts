// The process, under the names that dashboards for Node.js know. What watches it ends with the feature: a reload makes a new one.
import { setTimeout as after, setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { openMetrics, type OpenedMetrics } from "./open-metrics.ts";

async function sampleOf(metrics: OpenedMetrics, name: string): Promise<number> {
  return Object.values(await metrics.series(name))[0] ?? Number.NaN;
}

test("CPU, memory and start are those of this process, in base units", async () => {
  const { user, system } = process.cpuUsage();
  const upSeconds = process.uptime();
  await using metrics = await openMetrics();
  expect(await sampleOf(metrics, "process_cpu_seconds_total")).toBeGreaterThanOrEqual((user + system) / 1e6);
  expect(await sampleOf(metrics, "process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  expect(await sampleOf(metrics, "nodejs_heap_size_used_bytes")).toBeGreaterThan(1_000_000);
  expect(await metrics.series("nodejs_version_info")).toEqual({ [`version=${process.version}`]: 1 });
  const startSeconds = await sampleOf(metrics, "process_start_time_seconds");
  const openedSeconds = Date.UTC(2026, 0, 1) / 1000;
  expect(startSeconds).toBeLessThanOrEqual(openedSeconds - upSeconds);
  expect(startSeconds).toBeGreaterThan(openedSeconds - process.uptime() - 1);
});

test("file descriptors are counted, where the system tells", async (context) => {
  context.skip(process.platform !== "linux", "there is no /proc");
  await using metrics = await openMetrics();
  expect(await sampleOf(metrics, "process_open_fds")).toBeGreaterThan(2);
  expect(await sampleOf(metrics, "process_max_fds")).toBeGreaterThan(100);
});

test("CPU time goes on where it was when the feature is made anew", async () => {
  await using before = await openMetrics();
  const used = await sampleOf(before, "process_cpu_seconds_total");
  await using afterwards = await openMetrics();
  expect(await sampleOf(afterwards, "process_cpu_seconds_total")).toBeGreaterThanOrEqual(used);
});

/** Nothing else runs meanwhile, and the monitor has looked afterwards. */
async function holdTheLoop(): Promise<void> {
  for (const untilMs = performance.now() + 80; performance.now() < untilMs;);
  await after(30);
  // On a busy machine both timers may be over in one turn of the loop, in which the monitor does not look.
  await turn();
  await turn();
}

const longest = (metrics: OpenedMetrics) => sampleOf(metrics, "nodejs_eventloop_lag_max_seconds");

test("the event loop's delay is seen, and told as that since the last scrape", async () => {
  await using metrics = await openMetrics();
  // Its first look only says where it begins.
  await after(50);
  await holdTheLoop();
  expect(await longest(metrics)).toBeGreaterThan(0.05);
  // A busy machine may hold it again.
  for (let tries = 0; (await longest(metrics)) > 0.05; tries += 1) {
    expect(tries).toBeLessThan(100);
    await after(50);
  }
});

test("nothing looks at the event loop any more once the feature is shut down", async () => {
  const metrics = await openMetrics();
  await after(50);
  await metrics[Symbol.asyncDispose]();
  const before = await longest(metrics);
  await holdTheLoop();
  expect(await longest(metrics)).toBe(before);
});
