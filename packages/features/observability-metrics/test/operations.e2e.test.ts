// What docs/operations gives to Prometheus and Grafana, judged by Prometheus: rules that load and fire, expressions that find something.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingPrometheus, promtool, startPrometheus } from "@svc/testkit/real/prometheus";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { beforeEach, expect, test } from "vitest";
import { ALERT_TESTS, ALERTS, alertsText, busyMetrics, expressions, pageText } from "./operations.ts";
import { serve } from "./serve.ts";
import { makeTraffic } from "./traffic.ts";

beforeEach((context) => {
  const missing = missingPrometheus();
  if (missing) requireReal(context, missing);
});

test("the alert rules are valid, and each is heard where it must be, and only there", () => {
  expect(promtool(["check", "rules", "--lint-fatal", ALERTS])).toMatchObject({ code: 0 });
  expect(promtool(["test", "rules", ALERT_TESTS])).toMatchObject({ code: 0 });
});

test("the scrape config of the page is valid, with the rules beside it", () => {
  using home = temporaryHome();
  const [, yaml = ""] = /```yaml\n([^]*?)```/.exec(pageText()) ?? [];
  mkdirSync(join(home.path, "etc"));
  writeFileSync(join(home.path, "etc/prometheus.yml"), yaml);
  writeFileSync(join(home.path, "etc/svc-alerts.yml"), alertsText());
  const { code, output } = promtool(["check", "config", join(home.path, "etc/prometheus.yml")]);
  expect(output).toContain("1 rule files found");
  expect(code).toBe(0);
});

test("every expression of the dashboard finds something, once everything has happened", async () => {
  await using metrics = await busyMetrics();
  await using served = await serve(metrics);
  await using prometheus = await startPrometheus({ target: served.url, rules: [ALERTS] });
  await prometheus.scraped();
  // A rate is that of what came between two scrapes.
  makeTraffic(metrics);
  await prometheus.scraped();
  const findings = await Promise.all(
    expressions().map(async ({ title, expr }) => {
      const asked = expr.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".+");
      return { title, expr, found: (await prometheus.query(asked)).length };
    }),
  );
  expect(findings.length).toBeGreaterThan(60);
  expect(findings.filter(({ found }) => found === 0)).toEqual([]);
});
