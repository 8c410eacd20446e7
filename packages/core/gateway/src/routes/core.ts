/** The routes of core as data, those of features apart. */
import { DEVICE_SPECS } from "../api/devices.ts";
import { INBOX_SPECS } from "../api/inbox-specs.ts";
import { REPORT_SPECS } from "../api/reports.ts";
import { SESSION_SPECS } from "../api/session-specs.ts";
import { HEALTH } from "../health.ts";
import { METRICS } from "../http/metrics.ts";
import { OPENAPI } from "../openapi/route.ts";
import { PAIR } from "../pairing/route.ts";
import { WEBHOOK } from "../webhook/route.ts";
import type { RouteSpec } from "./spec.ts";

export const CORE_ROUTES: readonly RouteSpec[] = [
  WEBHOOK,
  PAIR,
  HEALTH,
  METRICS,
  ...REPORT_SPECS,
  ...INBOX_SPECS,
  ...SESSION_SPECS,
  ...DEVICE_SPECS,
  OPENAPI,
];
