/** The routes core itself has below `/api/`. */
import type { SessionService } from "@svc/agent";
import type { Devices } from "../auth/devices.ts";
import type { ApiRoute } from "./app.ts";
import { deviceRoutes } from "./devices.ts";
import { type Reports, reportRoutes } from "./reports.ts";
import { sessionRoutes } from "./sessions.ts";

export interface CoreRouteDeps extends Reports {
  readonly sessions: SessionService;
  readonly devices: Devices;
}

export const coreRoutes = (deps: CoreRouteDeps): ApiRoute[] => [
  ...reportRoutes(deps),
  ...sessionRoutes(deps.sessions, deps.devices),
  ...deviceRoutes(deps.devices),
];
