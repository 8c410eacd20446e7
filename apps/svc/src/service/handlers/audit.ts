/** What `svc audit` asks for. */
import type { ControlHandlers } from "@svc/gateway/control";
import { auditJson, type AuditLog } from "@svc/sop";
import { limitOf } from "./fields.ts";

export const auditHandlers = (audit: Pick<AuditLog, "list" | "verify">): ControlHandlers => ({
  audit: ({ body }) => ({ entries: audit.list(limitOf(body["limit"])).entries.map(auditJson) }),
  "audit-verify": async () => {
    const { entries, brokenAt } = await audit.verify();
    return { ok: brokenAt === undefined, entries, broken_at: brokenAt ?? null };
  },
});
