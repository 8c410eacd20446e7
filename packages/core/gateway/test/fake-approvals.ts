/** Approvals in memory: one that waits, one that somebody answered, one that nobody did. */
import type { PolicyRule } from "@svc/api";
import { type ErrorCode, SvcError } from "@svc/contract";
import type { Answer, ApprovalFilter, ApprovalKey, ApprovalPage } from "@svc/sop";
import type { Approval } from "@svc/store";
import type { GatewayApprovals, PolicyRules } from "../src/index.ts";

const approval = (n: number, changed: Partial<Approval>): Approval => ({
  n,
  runId: `run-${n}`,
  stepId: "step-1",
  origin: "external",
  title: "Deploy?",
  message: "Version 2 is built.",
  approveKeywords: ["approve", "yes"],
  rejectKeywords: ["reject", "no"],
  channels: ["provider_a"],
  askedBy: "a program on this machine",
  digest: "d",
  status: "waiting",
  createdAtMs: 1_000,
  expiresAtMs: 2_000,
  prompts: [{ conversation: { channel: "provider_a", id: "C1" }, opened: undefined, delivery: n }],
  answer: undefined,
  eventId: "boot-1",
  ...changed,
});

export class FakeApprovals implements GatewayApprovals {
  readonly rows: Approval[] = [
    approval(1, { status: "expired", answer: { feedback: undefined, by: "nobody", via: "service", atMs: 2_000 } }),
    approval(2, { status: "approved", answer: { feedback: "go", by: "phone", via: "page", atMs: 1_500 } }),
    approval(3, { prompts: [] }),
  ];
  /** As long as it is set, every answer fails with it. */
  fails: ErrorCode | undefined;
  /** Of `list`, as they were asked for. */
  readonly asked: { readonly filter: ApprovalFilter; readonly limit: number }[] = [];

  async resolve({ runId, stepId }: ApprovalKey, answer: Answer): Promise<Approval> {
    await Promise.resolve();
    if (this.fails) throw new SvcError(this.fails);
    const index = this.rows.findIndex((row) => row.runId === runId && row.stepId === stepId);
    const row = this.rows[index];
    if (!row) throw new SvcError("APPROVAL_UNKNOWN");
    if (row.status === "expired") throw new SvcError("APPROVAL_EXPIRED");
    if (row.status !== "waiting") throw new SvcError("APPROVAL_RESOLVED", `${row.answer?.by} was first.`);
    const { approved, feedback, by, via, holds } = answer;
    const resolved: Approval = {
      ...row,
      status: approved ? "approved" : "rejected",
      answer: { feedback, by, via, atMs: 1_700, holds: approved ? holds : undefined },
    };
    this.rows[index] = resolved;
    return resolved;
  }

  get({ runId, stepId }: ApprovalKey): Approval | undefined {
    return this.rows.find((row) => row.runId === runId && row.stepId === stepId);
  }

  list(filter: ApprovalFilter, limit: number): ApprovalPage {
    this.asked.push({ filter, limit });
    const { status, before = Infinity } = filter;
    const all = this.rows.toReversed().filter((row) => row.n < before && (!status || row.status === status));
    return { approvals: all.slice(0, limit), next: all.length > limit ? all[limit - 1]!.n : undefined };
  }

  /** One more that waits. */
  add(changed: Partial<Approval>): void {
    this.rows.push(approval(this.rows.length + 1, changed));
  }
}

export class FakePolicyRules implements PolicyRules {
  /** As long as it is set, nothing can be revoked. */
  fails: ErrorCode | undefined;

  list(): PolicyRule[] {
    return [{ id: "rule-1", agent: "default", tool: "shell", pattern: "shell: git status" }];
  }

  async revoke(id: string): Promise<boolean> {
    await Promise.resolve();
    if (this.fails) throw new SvcError(this.fails);
    return id === "rule-1";
  }
}
