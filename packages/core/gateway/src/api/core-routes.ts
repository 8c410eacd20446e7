/** The routes core itself has below `/api/`. */
import type { MessageAdmin } from "@svc/agent";
import type { Logger } from "@svc/contract";
import type { Devices } from "../auth/devices.ts";
import type { PageSessions } from "../auth/page-sessions.ts";
import type { Pairing } from "../pairing/pairing.ts";
import type { WebPush } from "../push/web-push.ts";
import type { GatewayApprovals, GatewaySops, PolicyRules } from "../types.ts";
import type { ApiRoute } from "./app.ts";
import { approvalRoutes } from "./approvals.ts";
import { auditRoutes } from "./audit.ts";
import type { BodyLimits } from "./body.ts";
import { commandRoutes } from "./commands.ts";
import { deviceRoutes } from "./devices.ts";
import { inboxRoutes } from "./inbox.ts";
import { type OperationRouteDeps, operationRoutes } from "./operations.ts";
import { policyRuleRoutes } from "./policy-rules.ts";
import { type PairingCodeDeps, pairingCodeRoutes } from "./pairing-codes.ts";
import { pushRoutes } from "./push.ts";
import { type Reports, reportRoutes } from "./reports.ts";
import { type SessionRouteDeps, sessionRoutes } from "./sessions.ts";
import { type SettingsRouteDeps, settingsRoutes } from "./settings.ts";
import { type SopDeskRouteDeps, sopDeskRoutes } from "./sop-desk.ts";
import { sopRunRoutes } from "./sop-runs.ts";
import { sopRoutes } from "./sops.ts";

export interface CoreRouteDeps
  extends Reports, SessionRouteDeps, SettingsRouteDeps, OperationRouteDeps, SopDeskRouteDeps {
  readonly messageAdmin: MessageAdmin;
  readonly devices: Devices;
  readonly approvals: GatewayApprovals;
  readonly policyRules: PolicyRules;
  readonly sops: GatewaySops;
  readonly bodies: BodyLimits;
  readonly pageSessions: PageSessions;
  readonly pairing: Pairing;
  readonly linksOf: PairingCodeDeps["linksOf"];
  readonly push: WebPush;
  readonly log: Logger;
}

export const coreRoutes = (deps: CoreRouteDeps): ApiRoute[] => [
  ...reportRoutes(deps),
  ...inboxRoutes(deps.messageAdmin),
  ...sessionRoutes(deps),
  ...approvalRoutes(deps.approvals, deps.bodies),
  ...policyRuleRoutes(deps.policyRules),
  ...settingsRoutes(deps),
  ...operationRoutes(deps),
  ...commandRoutes(),
  ...sopRoutes(deps.sops, deps.bodies),
  ...sopDeskRoutes(deps),
  ...sopRunRoutes(deps.sops, deps.approvals),
  ...auditRoutes(deps.sops.audit),
  ...deviceRoutes(deps),
  ...pairingCodeRoutes(deps),
  ...pushRoutes(deps),
];
