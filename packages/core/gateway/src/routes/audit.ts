/** The audit log of procedures and approvals. An operator's to read. */
import { AuditPage, AuditQuery } from "@svc/api";
import { auditJson, type AuditLog } from "@svc/sop";
import { apiRoute, type ApiRoute, type ApiSpec, limitOf, respond } from "./route.ts";

const LIST = {
  method: "GET",
  path: "/api/audit",
  access: "operate",
  summary: "Reads the audit log of procedures and approvals, the newest line first.",
  query: AuditQuery,
  answers: { 200: { description: "A page.", body: AuditPage } },
} satisfies ApiSpec;

export const AUDIT_SPECS = [LIST];

export const auditRoutes = (audit: Pick<AuditLog, "list">): ApiRoute[] => [
  apiRoute(LIST, ({ query }) => {
    const page = audit.list(limitOf(query), query.before);
    return respond(LIST, 200, { entries: page.entries.map(auditJson), before: page.next ?? null });
  }),
];
