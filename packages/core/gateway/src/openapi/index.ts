/** `@svc/gateway/openapi`: the document of the HTTP interface, without a gateway that runs. */
import { DEVICE_SPECS } from "../api/devices.ts";
import { REPORT_SPECS } from "../api/reports.ts";
import { SESSION_SPECS } from "../api/session-specs.ts";
import { HEALTH } from "../health.ts";
import { METRICS } from "../http/metrics.ts";
import { PAIR } from "../pairing/route.ts";
import type { RouteSpec } from "../routes/spec.ts";
import { WEBHOOK } from "../webhook/route.ts";
import { OPENAPI } from "./route.ts";

export { openApiDocument, type OpenApiOptions } from "./document.ts";

/** The routes of core, those of features apart. */
export const CORE_ROUTES: readonly RouteSpec[] = [
  WEBHOOK,
  PAIR,
  HEALTH,
  METRICS,
  ...REPORT_SPECS,
  ...SESSION_SPECS,
  ...DEVICE_SPECS,
  OPENAPI,
];
