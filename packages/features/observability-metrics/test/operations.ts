/** What docs/operations has for operators, as its tests look at it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NO_READINGS } from "@svc/testkit/feature-context";
import { openMetrics, type OpenedMetrics } from "./open-metrics.ts";
import { makeTraffic } from "./traffic.ts";

const OPERATIONS = join(import.meta.dirname, "../../../../docs/operations");
export const ALERTS = join(OPERATIONS, "svc-alerts.yml");
export const ALERT_TESTS = join(import.meta.dirname, "svc-alerts.test.yml");

const read = (file: string): string => readFileSync(file, "utf8");

export const alertsText = (): string => read(ALERTS);
export const alertTestsText = (): string => read(ALERT_TESTS);
export const pageText = (): string => read(join(OPERATIONS, "monitoring.md"));

export interface Dashboard {
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly datasource: object }[];
}

export const dashboard = (): Dashboard => JSON.parse(read(join(OPERATIONS, "svc-grafana-dashboard.json"))) as Dashboard;

/** Expressions with the title of their panel. */
export const expressions = (): { readonly title: string; readonly expr: string }[] =>
  dashboard().panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

/** A service in which everything has happened. */
export async function busyMetrics(): Promise<OpenedMetrics> {
  const features = [{ id: "channel-chat", isUp: true }];
  const metrics = await openMetrics(() => ({ ...NO_READINGS, features }));
  makeTraffic(metrics);
  return metrics;
}

/** Names of series in PromQL; the parts of a histogram as the histogram. */
export const seriesIn = (text: string): string[] => [
  ...new Set(
    (text.match(/\b(?:svc|process|nodejs)_[a-z0-9_]+\b/g) ?? []).map((name) =>
      name.replace(/_(?:bucket|sum|count)$/, ""),
    ),
  ),
];
