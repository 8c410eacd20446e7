/** What `svc approvals` asks for: of a service that runs, or of the database alone. */
import { SvcError } from "@svc/contract";
import type { PolicyRules } from "@svc/gateway";
import { approvalJson, type Approvals, auditJson, type AuditLog } from "@svc/sop";
import type { Approval } from "@svc/store";
import type { Handlers } from "../control.ts";
import { AN_OPERATOR } from "./input.ts";

type ApprovalNames = "approvals" | "approval-answer" | "approval-rules" | "approval-rule-revoke";

export function approvalHandlers(approvals: Approvals, rules: PolicyRules): Pick<Handlers, ApprovalNames> {
  return {
    approvals: ({ body: { status, limit } }) => {
      const page = approvals.list(status === "all" ? {} : { status }, limit);
      return { approvals: page.approvals.map(approvalJson) };
    },
    "approval-answer": async ({ body: { run, step, approved, feedback, holds } }) => {
      const approval = find(approvals, run, step);
      const answer = { approved, holds, ...(feedback !== undefined && { feedback }) };
      return approvalJson(await approvals.resolve(approval, { ...answer, by: AN_OPERATOR, via: "cli" }));
    },
    "approval-rules": () => ({
      rules: rules.list().map(({ id, agent, tool, pattern }) => ({ id, agent, tool, pattern })),
    }),
    "approval-rule-revoke": async ({ body: { id } }) => {
      if (!(await rules.revoke(id, AN_OPERATOR))) throw new SvcError("RULE_UNKNOWN", undefined, { hint: LIST_RULES });
      return { id, revoked: true };
    },
  };
}

/** By its number, by run and step, or by the run alone when only one of it waits. Throws APPROVAL_UNKNOWN, USAGE. */
function find(approvals: Approvals, run: string, step: string | undefined): Pick<Approval, "runId" | "stepId"> {
  if (step !== undefined) return { runId: run, stepId: step };
  const [, mark, digits] = /^(#?)(\d{1,15})$/.exec(run) ?? [];
  const numbered = digits === undefined ? undefined : byNumber(approvals, Number(digits));
  if (numbered && mark === "#") return numbered;
  const ofRun = approvals.list({ runId: run, status: "waiting" }, 2).approvals;
  // An outside workflow may count its runs: a yes for one must never be taken for a yes to another.
  if (numbered && ofRun.some(({ n }) => n !== numbered.n)) throw new SvcError("USAGE", EITHER, { hint: WHICH });
  const found = numbered ?? (ofRun.length === 1 ? ofRun[0] : undefined);
  if (found) return found;
  const hint = ofRun.length === 0 ? "See: svc approvals list" : "Several of this run wait: say which step.";
  throw new SvcError("APPROVAL_UNKNOWN", undefined, { hint });
}

const LIST_RULES = "See: svc approvals rules";

const EITHER = "This is the number of one request, and the run of another.";
const WHICH = "For the first say '#<number>', for the other name its step too.";

function byNumber(approvals: Approvals, n: number): Approval | undefined {
  const [newest] = approvals.list({ before: n + 1 }, 1).approvals;
  return newest?.n === n ? newest : undefined;
}

/** What `svc audit` asks for. */
export const auditHandlers = (audit: Pick<AuditLog, "list" | "verify">): Pick<Handlers, "audit" | "audit-verify"> => ({
  audit: ({ body }) => ({ entries: audit.list(body.limit).entries.map(auditJson) }),
  "audit-verify": async () => {
    const { entries, brokenAt } = await audit.verify();
    return { ok: brokenAt === undefined, entries, broken_at: brokenAt ?? null };
  },
});
