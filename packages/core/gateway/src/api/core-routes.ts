/** The routes core itself has below `/api/`. */
import type { Mailbox, SessionService } from "@svc/agent";
import type { Devices } from "../auth/devices.ts";
import type { ApiRoute } from "./app.ts";
import { deviceRoutes } from "./devices.ts";
import { inboxRoutes } from "./inbox.ts";
import { type Reports, reportRoutes } from "./reports.ts";
import { sessionRoutes } from "./sessions.ts";

export interface CoreRouteDeps extends Reports {
  readonly sessions: SessionService;
  readonly mailbox: Mailbox;
  readonly devices: Devices;
}

export const coreRoutes = (deps: CoreRouteDeps): ApiRoute[] => [
  ...reportRoutes(deps),
  ...inboxRoutes(deps.mailbox),
  ...sessionRoutes(deps.sessions, deps.devices),
  ...deviceRoutes(deps.devices),
];
