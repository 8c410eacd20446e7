// How the service stands is asked at each scrape; what nobody knows is missing, never an old number or a 0.
import { type Readings, SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import { openMetrics, type OpenedMetrics } from "./open-metrics.ts";

const READINGS: Readings = {
  inbox: { count: 3, oldestAgeMs: 4500 },
  outbox: { count: 2, oldestAgeMs: 60_000 },
  dead: { received: 1, toSend: 4 },
  approvalsWaiting: 5,
  sopRuns: 6,
  turnsRunning: 7,
  eventSubscribers: 8,
  connections: 9,
  devices: 10,
  features: [
    { id: "channel-chat", isUp: true },
    { id: "channel-mail", isUp: false },
  ],
};

const EXPECTED = {
  svc_inbox_messages: { "": 3 },
  svc_inbox_oldest_age_seconds: { "": 4.5 },
  svc_outbox_messages: { "": 2 },
  svc_outbox_oldest_age_seconds: { "": 60 },
  svc_dead_letters: { "queue=inbox": 1, "queue=outbox": 4 },
  svc_approvals_waiting: { "": 5 },
  svc_sop_runs_active: { "": 6 },
  svc_turns_running: { "": 7 },
  svc_event_subscribers: { "": 8 },
  svc_connections: { "": 9 },
  svc_devices_paired: { "": 10 },
  svc_feature_up: { "feature=channel-chat": 1, "feature=channel-mail": 0 },
};

async function standing(metrics: OpenedMetrics): Promise<Record<string, Readonly<Record<string, number>>>> {
  const found: Record<string, Readonly<Record<string, number>>> = {};
  for (const name of Object.keys(EXPECTED)) found[name] = await metrics.series(name);
  return found;
}

test("every reading is a gauge, in base units", async () => {
  await using metrics = await openMetrics(() => READINGS);
  expect(await standing(metrics)).toEqual(EXPECTED);
});

test("each text has what is so now; a feature that was turned off is gone", async () => {
  let now = READINGS;
  await using metrics = await openMetrics(() => now);
  await metrics.text();
  now = { ...READINGS, approvalsWaiting: 0, features: [{ id: "channel-mail", isUp: true }] };
  expect(await metrics.series("svc_approvals_waiting")).toEqual({ "": 0 });
  expect(await metrics.series("svc_feature_up")).toEqual({ "feature=channel-mail": 1 });
});

test("where nobody can tell, the gauges say nothing, the rest goes on, and the log says so once", async () => {
  let isBroken = true;
  await using metrics = await openMetrics(() => {
    if (isBroken) throw new SvcError("STORE_FAILED");
    return READINGS;
  });
  metrics.work("tool-call", { tool: "shell", callId: "c" }, { error: undefined });
  expect(Object.values(await standing(metrics)).flatMap((series) => Object.values(series))).toEqual([]);
  expect(await metrics.series("svc_tool_calls_total")).toEqual({ "tool=shell outcome=ok": 1 });
  expect(metrics.log.lines.map(({ level, fields }) => [level, fields])).toEqual([["warn", { code: "STORE_FAILED" }]]);

  isBroken = false;
  expect(await metrics.series("svc_inbox_messages")).toEqual({ "": 3 });
  isBroken = true;
  expect(await metrics.series("svc_inbox_messages")).toEqual({});
  expect(metrics.log.lines).toHaveLength(2);
});

test("the build is told", async () => {
  await using metrics = await openMetrics();
  expect(await metrics.series("svc_build_info")).toEqual({ "version=1.2.3 commit=0123abc profile=test": 1 });
});
