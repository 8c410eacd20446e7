/** The routes core itself has below `/api/`. */
import type { Json } from "@svc/contract";
import { jsonReply } from "../http/reply.ts";
import type { ApiRoute } from "./app.ts";
import type { SessionsView } from "./sessions.ts";

export interface CoreReports {
  status(): Json;
  tools(): Json;
  features(): Json;
}

export function coreRoutes(reports: CoreReports, sessions: SessionsView): ApiRoute[] {
  const report = (path: string, body: () => Json): ApiRoute => ({
    method: "GET",
    path,
    need: "read",
    handle: () => jsonReply(200, body()),
  });
  return [
    report("/api/status", () => reports.status()),
    report("/api/tools", () => reports.tools()),
    report("/api/features", () => reports.features()),
    {
      method: "GET",
      path: "/api/sessions",
      need: "read",
      handle: (context, device) => jsonReply(200, sessions.list(device, context.req.query("limit"))),
    },
  ];
}
