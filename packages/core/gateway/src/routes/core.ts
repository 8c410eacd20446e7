/** The routes of core as data, those of features apart. */
import { APPROVAL_SPECS } from "../api/approval-specs.ts";
import { AUDIT_SPECS } from "../api/audit.ts";
import { COMMAND_SPECS } from "../api/commands.ts";
import { DEVICE_SPECS } from "../api/devices.ts";
import { PUSH_SPECS } from "../api/push.ts";
import { POLICY_RULE_SPECS } from "../api/policy-rules.ts";
import { PAIRING_CODE_SPECS } from "../api/pairing-codes.ts";
import { FILE_SPECS } from "../api/file-specs.ts";
import { INBOX_SPECS } from "../api/inbox-specs.ts";
import { OPERATION_SPECS } from "../api/operations.ts";
import { REPORT_SPECS } from "../api/reports.ts";
import { SESSION_SPECS } from "../api/session-specs.ts";
import { SESSION_TURN_SPECS } from "../api/session-turn-specs.ts";
import { SETTINGS_SPECS } from "../api/settings-specs.ts";
import { SOP_DESK_SPECS } from "../api/sop-desk-specs.ts";
import { SOP_VERSION_SPECS } from "../api/sop-version-specs.ts";
import { SOP_RUN_SPECS } from "../api/sop-run-specs.ts";
import { SOP_SPECS } from "../api/sop-specs.ts";
import { CHANNEL_EVENTS } from "../channel-events/route.ts";
import { HEALTH } from "../health.ts";
import { METRICS } from "../http/metrics.ts";
import { OPENAPI } from "../openapi/route.ts";
import { PAGE_SESSION_SPECS } from "../page/session-specs.ts";
import { PAIR } from "../pairing/route.ts";
import { EVENTS, SOCKET } from "../streams/specs.ts";
import { WEBHOOK } from "../webhook/route.ts";
import type { RouteSpec } from "./spec.ts";

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
