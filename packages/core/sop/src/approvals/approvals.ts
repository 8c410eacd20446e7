/** The registry of what waits for a person's yes: durable, answered once, and told to everybody who was asked. */
import { SvcError } from "@svc/contract";
import type { Approval, ApprovalHold } from "@svc/store";
import { Announced } from "./announced.ts";
import { Expiry } from "./expiry.ts";
import type { ApprovalOptions } from "./options.ts";
import { expired, refusalOf } from "./outcome.ts";
import { Replies } from "./replies.ts";
import { Requester } from "./requester.ts";
import { Settler } from "./settler.ts";
import type { Answer, ApprovalKey, Approvals, Pending } from "./types.ts";
import { Waiters } from "./waiters.ts";

/** What the parts of this package ask of it beside. */
export interface ApprovalRegistry extends Approvals {
  /** Id of the event that told of it. Called after the commit. */
  eventIdOf(approval: Approval): string;
  /** Its time is over before `expiresAtMs`. Resolves once that is on disk; also where it waits no longer. */
  expire(key: ApprovalKey): Promise<void>;
}

export function createApprovals(options: ApprovalOptions): ApprovalRegistry {
  const { store, clock } = options;
  const announced = new Announced(options);
  const waiters = new Waiters();
  const settler = new Settler(options, announced, waiters);
  const expiry = new Expiry(options, settler);
  const requester = new Requester(options, announced, () => expiry.look());
  const replies = new Replies(options, settler);
  const find = ({ runId, stepId }: ApprovalKey): Approval | undefined => store.approvals.byKey(runId, stepId);

  /** What it returns as an error has changed nothing. */
  const answerIn = (key: ApprovalKey, { approved, by, via, feedback, holds }: Answer): Pending<Approval> | SvcError => {
    const approval = find(key);
    if (!approval) return unknown();
    if (approval.status !== "waiting") return refusalOf(approval);
    if (approval.expiresAtMs <= clock.now()) return expired(approval.expiresAtMs);
    const refusal = approved ? refusalToHold(approval, holds, options.keepRule !== undefined) : undefined;
    if (refusal) return refusal;
    const end = { by, via, feedback, ...(holds !== undefined && holds !== "once" && { holds }) };
    return settler.settleIn(approval.n, { status: approved ? "approved" : "rejected", ...end })!;
  };

  return {
    async request(request) {
      const checked = requester.check(request);
      return commit(await store.write(() => requester.requestIn(checked)));
    },
    requestIn: (request) => orThrow(requester.requestIn(requester.check(request))),
    async resolve(key, answer) {
      const answered = commit(await store.write(() => answerIn(key, answer)));
      if (answered.answer?.holds === "always") await options.keepRule?.(answered.offers!.always!.rule, answered);
      return answered;
    },
    resolveIn: (key, answer) => orThrow(answerIn(key, answer)),
    cancelIn(key, why) {
      const approval = find(key);
      return approval && settler.settleIn(approval.n, { status: "cancelled", by: why, via: "service" });
    },
    async settled(key, signal) {
      const approval = find(key);
      if (!approval) throw unknown();
      return approval.status === "waiting" ? waiters.wait(approval.n, signal) : approval;
    },
    get: find,
    list(filter, limit) {
      const approvals = store.approvals.list(filter, limit + 1);
      const isMore = approvals.length > limit;
      const page = isMore ? approvals.slice(0, limit) : approvals;
      return { approvals: page, next: isMore ? page.at(-1)?.n : undefined };
    },
    replies: {
      takes: (inbound, receivedAtMs) => replies.takes(inbound, receivedAtMs),
      take: (inbound, receivedAtMs) => replies.take(inbound, receivedAtMs),
    },
    eventIdOf: (approval) => announced.tell(approval),
    async expire(key) {
      const pending = await store.write(() => {
        const approval = find(key);
        return approval && expiry.expireIn(approval);
      });
      pending?.committed();
    },
    start: () => expiry.start(),
    stop: () => expiry.stop(),
  };
}

/** A yes may hold no longer than it was offered to: the person has seen for what. */
function refusalToHold(
  { offers }: Approval,
  holds: ApprovalHold = "once",
  canKeepRules: boolean,
): SvcError | undefined {
  if (holds === "once" || (offers?.[holds] !== undefined && (holds !== "always" || canKeepRules))) return undefined;
  const reason = offers?.reason ?? "Only a tool call can be allowed for longer.";
  return new SvcError("BAD_REQUEST", `This can be allowed once only. ${reason}`, {
    hint: "Approve it without `holds`.",
  });
}

const unknown = (): SvcError => new SvcError("APPROVAL_UNKNOWN", undefined, { hint: "See: svc approvals list" });

/** An error that was made inside of a transaction, but not thrown there: it would undo what others do in it. */
function commit<Result>(pending: Pending<Result> | SvcError): Result {
  const { result, committed } = orThrow(pending);
  committed();
  return result;
}

function orThrow<Result>(pending: Pending<Result> | SvcError): Pending<Result> {
  if (pending instanceof SvcError) throw pending;
  return pending;
}
