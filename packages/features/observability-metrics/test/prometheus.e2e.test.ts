// What Prometheus makes of the text is what counts: its linter has nothing to say, and it reads the values that were counted.
import { NO_READINGS } from "@svc/testkit/feature-context";
import { missingPrometheus, promtool, startPrometheus } from "@svc/testkit/real/prometheus";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { openMetrics } from "./open-metrics.ts";
import { serve } from "./serve.ts";
import { makeTraffic } from "./traffic.ts";

test("promtool has nothing to say, before anything has happened and afterwards", async (context) => {
  const missing = missingPrometheus();
  if (missing) requireReal(context, missing);
  await using metrics = await openMetrics();
  expect(promtool(["check", "metrics"], await metrics.text())).toEqual({ code: 0, output: "" });
  makeTraffic(metrics);
  expect(promtool(["check", "metrics"], await metrics.text())).toEqual({ code: 0, output: "" });
  // A linter that finds nothing wrong with anything proves nothing.
  expect(promtool(["check", "metrics"], "# TYPE works counter\nworks 1\n")).toMatchObject({ code: 3 });
});

test("Prometheus reads what was counted", async (context) => {
  const missing = missingPrometheus();
  if (missing) requireReal(context, missing);
  const readings = () => ({
    ...NO_READINGS,
    inbox: { count: 3, oldestAgeMs: 2500 },
    features: [{ id: "channel-chat", isUp: false }],
  });
  await using metrics = await openMetrics(readings);
  await using served = await serve(metrics);
  await using prometheus = await startPrometheus({ target: served.url });
  makeTraffic(metrics);
  await prometheus.scraped();

  expect(await prometheus.value("up")).toBe(1);
  expect(await prometheus.value('svc_http_requests_total{route="/webhook",method="POST",status="200"}')).toBe(1);
  expect(await prometheus.value("sum(svc_http_requests_total)")).toBe(2);
  expect(await prometheus.value("svc_http_request_duration_seconds_sum{status_class='2xx'}")).toBe(0.8);
  expect(await prometheus.value('svc_http_request_duration_seconds_bucket{status_class="2xx",le="0.5"}')).toBe(0);
  expect(await prometheus.value('svc_http_request_duration_seconds_bucket{status_class="2xx",le="1"}')).toBe(1);
  expect(await prometheus.value('svc_model_tokens_total{model="m-1",direction="input"}')).toBe(120);
  expect(await prometheus.value('svc_model_cost_usd_total{model="m-1"}')).toBe(0.02);
  expect(await prometheus.value('svc_errors_total{work="tool-call",code="TOOL_REFUSED"}')).toBe(1);
  expect(await prometheus.value("svc_inbox_messages")).toBe(3);
  expect(await prometheus.value("svc_inbox_oldest_age_seconds")).toBe(2.5);
  expect(await prometheus.value('svc_feature_up{feature="channel-chat"}')).toBe(0);

  makeTraffic(metrics);
  await prometheus.scraped();
  expect(await prometheus.value('svc_tool_calls_total{tool="shell",outcome="ok"}')).toBe(2);
  expect(await prometheus.value('svc_model_cost_usd_total{model="m-1"}')).toBe(0.04);
});
