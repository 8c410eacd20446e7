/** The audit log of procedures and approvals. An operator's to read. */
import { integer } from "@svc/contract";
import { auditJson, type AuditLog } from "@svc/sop";
import * as v from "valibot";
import { jsonReply } from "../http/reply.ts";
import { before, cursor, limit, limitOf, time } from "./fields.ts";
import type { ApiRoute, ApiSpec } from "./route.ts";

const ENTRY = v.object({
  n: integer(1),
  at: time(),
  kind: v.string(),
  data: v.unknown(),
  hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/), v.description("SHA-256 over the line and the hash before it.")),
});

const LIST: ApiSpec = {
  method: "GET",
  path: "/api/audit",
  access: "operate",
  summary: "Reads the audit log of procedures and approvals, the newest line first.",
  query: { limit: limit("lines"), before: before() },
  answers: { 200: { description: "A page.", body: v.object({ entries: v.array(ENTRY), before: cursor("lines") }) } },
};

export const AUDIT_SPECS = [LIST];

export const auditRoutes = (audit: Pick<AuditLog, "list">): ApiRoute[] => [
  {
    ...LIST,
    handle: ({ query }) => {
      const page = audit.list(limitOf(query), query["before"] as number | undefined);
      return jsonReply(200, { entries: page.entries.map(auditJson), before: page.next ?? null });
    },
  },
];
