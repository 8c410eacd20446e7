/** Lines of the audit log. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import { anyJson, before, cursor, limit, time, type Output, type ParametersOutput } from "./schema.ts";

export const AuditEntry = v.object({
  n: integer(1),
  at: time(),
  kind: v.string(),
  data: anyJson,
  hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/), v.description("SHA-256 over the line and the hash before it.")),
});
export type AuditEntry = Output<typeof AuditEntry>;

export const AuditPage = v.object({ entries: v.array(AuditEntry), before: cursor("lines") });
export type AuditPage = Output<typeof AuditPage>;

export const AuditQuery = { limit: limit("lines"), before: before() };
export type AuditQuery = ParametersOutput<typeof AuditQuery>;
