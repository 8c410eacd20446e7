import { APPROVAL_SPECS, POLICY_RULE_SPECS } from "../routes/approvals.ts";
import { AUDIT_SPECS } from "../routes/audit.ts";
import { CHANNEL_EVENTS } from "../routes/channel-events.ts";
import { DEVICE_SPECS, PAIRING_CODE_SPECS } from "../routes/devices.ts";
import { FILE_SPECS } from "../routes/files.ts";
import { HEALTH } from "../routes/health.ts";
import { INBOX_SPECS } from "../routes/inbox.ts";
import { METRICS } from "../routes/metrics.ts";
import { OPERATION_SPECS } from "../routes/operations.ts";
import { PAGE_SESSION_SPECS } from "../routes/page-session.ts";
import { PAIR } from "../routes/pair.ts";
import { PUSH_SPECS } from "../routes/push.ts";
import { COMMAND_SPECS, REPORT_SPECS } from "../routes/reports.ts";
import type { RouteSpec } from "../routes/route.ts";
import { SESSION_TURN_SPECS } from "../routes/session-turns.ts";
import { SESSION_SPECS } from "../routes/sessions.ts";
import { SETTINGS_SPECS } from "../routes/settings.ts";
import { SOP_DESK_SPECS, SOP_VERSION_SPECS } from "../routes/sop-editor.ts";
import { SOP_RUN_SPECS, SOP_SPECS } from "../routes/sops.ts";
import { WEBHOOK } from "../routes/webhook.ts";
import { EVENTS, SOCKET } from "../streams/sse.ts";
import { OPENAPI } from "./route.ts";

/** `@svc/gateway/openapi`: the document of the HTTP interface, without a gateway that runs. */
export { openApiDocument, type OpenApiOptions } from "./document.ts";

// The routes of core as data, those of features apart.

export const CORE_ROUTES: readonly RouteSpec[] = [
  WEBHOOK,
  PAIR,
  ...PAGE_SESSION_SPECS,
  HEALTH,
  METRICS,
  EVENTS,
  SOCKET,
  CHANNEL_EVENTS,
  ...REPORT_SPECS,
  ...INBOX_SPECS,
  ...SESSION_SPECS,
  ...SESSION_TURN_SPECS,
  ...FILE_SPECS,
  ...APPROVAL_SPECS,
  ...POLICY_RULE_SPECS,
  ...SETTINGS_SPECS,
  ...OPERATION_SPECS,
  ...COMMAND_SPECS,
  ...SOP_SPECS,
  ...SOP_RUN_SPECS,
  ...SOP_DESK_SPECS,
  ...SOP_VERSION_SPECS,
  ...AUDIT_SPECS,
  ...DEVICE_SPECS,
  ...PAIRING_CODE_SPECS,
  ...PUSH_SPECS,
  OPENAPI,
];
