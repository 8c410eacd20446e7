/** Counters and histograms, driven by ended spans and by events. */
import type { ErrorCode, Observer, WorkFacts, WorkKind, WorkResults } from "@svc/contract";
import { type Counted, OTHER } from "./series.ts";

type Ends = {
  readonly [Kind in WorkKind]: (facts: WorkFacts[Kind], result: WorkResults[Kind], seconds: number) => void;
};

export function watchWork(counted: Counted): NonNullable<Observer["begin"]> {
  const ends = endsOf(counted);
  return ({ kind, facts, startedAtMs }) => ({
    // A clock that was set back meanwhile makes no time negative.
    end: (result, endedAtMs) => ends[kind](facts, result, Math.max(0, endedAtMs - startedAtMs) / 1000),
  });
}

function endsOf(counted: Counted): Ends {
  const failed = (work: WorkKind, code: ErrorCode | undefined): void => {
    if (code !== undefined && !CANCELLED.has(code)) counted.errors.record({ work, code }, 1);
  };
  return {
    request({ method: asked, route }, { status }, seconds) {
      const method = METHODS.has(asked) ? asked : OTHER;
      counted.requests.record({ method, route, status: statusOf(status) }, 1);
      counted.requestSeconds.record({ method, route, status_class: statusClassOf(status) }, seconds);
    },
    inbox({ channel }, { error }, seconds) {
      counted.inboxSeconds.record({ channel }, seconds);
      failed("inbox", error);
    },
    turn({ agent, model }, { error, inputTokens, outputTokens, costUsd }, seconds) {
      const labels = { agent, outcome: outcomeOf(error) };
      counted.turns.record(labels, 1);
      counted.turnSeconds.record(labels, seconds);
      if (costUsd === undefined && inputTokens + outputTokens > 0) counted.turnsUnpriced.record({ model }, 1);
      failed("turn", error);
    },
    "model-call"({ provider, model }, { error, inputTokens, outputTokens, costUsd }, seconds) {
      const labels = { provider, model, outcome: outcomeOf(error) };
      counted.modelCalls.record(labels, 1);
      counted.modelCallSeconds.record(labels, seconds);
      counted.tokens.record({ model, direction: "input" }, inputTokens);
      counted.tokens.record({ model, direction: "output" }, outputTokens);
      if (costUsd !== undefined) counted.cost.record({ model }, costUsd);
      failed("model-call", error);
    },
    "tool-call"({ tool }, { error }, seconds) {
      const labels = { tool, outcome: outcomeOf(error) };
      counted.toolCalls.record(labels, 1);
      counted.toolCallSeconds.record(labels, seconds);
      failed("tool-call", error);
    },
    command({ backend }, { outcome: ended, exitCode }, seconds) {
      const labels = { backend, outcome: ended === "exited" ? (exitCode === 0 ? "ok" : "exit-code") : ended };
      counted.commands.record(labels, 1);
      counted.commandSeconds.record(labels, seconds);
    },
    delivery({ channel }, { error }, seconds) {
      const labels = { channel, outcome: outcomeOf(error) };
      counted.attempts.record(labels, 1);
      counted.attemptSeconds.record(labels, seconds);
      failed("delivery", error);
    },
  };
}

/** Cancelled by a person, or by the daemon's shutdown. */
const CANCELLED: ReadonlySet<ErrorCode> = new Set(["TURN_CANCELLED", "CANCELLED", "DRAINING"]);

const outcomeOf = (error: ErrorCode | undefined): "ok" | "failed" | "cancelled" =>
  error === undefined ? "ok" : CANCELLED.has(error) ? "cancelled" : "failed";

/** A client may send any token for a method. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

const statusOf = (status: number | undefined): string => (status === undefined ? "aborted" : String(status));

const statusClassOf = (status: number | undefined): string =>
  status === undefined ? "aborted" : `${String(status)[0]}xx`;

/** Counters of events. */
export function watchEvents(counted: Counted): Observer["record"] {
  // Start at 0: a counter that begins with its first event hides that event from `increase()`.
  for (const origin of ["external", "sop", "tool"]) counted.approvalsRequested.record({ origin }, 0);
  for (const outcome of ["approved", "rejected", "expired", "cancelled"]) {
    counted.approvalsResolved.record({ outcome }, 0);
  }
  return (event) => {
    switch (event.type) {
      case "message-received":
        return counted.received.record({ channel: event.conversation.channel }, 1);
      case "message-delivered":
        return counted.deliveries.record({ channel: event.conversation.channel, outcome: "delivered" }, 1);
      case "message-failed": {
        const { channel } = event.conversation;
        if (event.messageId.startsWith("in-")) return counted.unanswered.record({ channel }, 1);
        return counted.deliveries.record({ channel, outcome: "given-up" }, 1);
      }
      case "human_approval_request":
        return counted.approvalsRequested.record({ origin: event.origin }, 1);
      case "human_approval_resolved":
        return counted.approvalsResolved.record({ outcome: event.outcome }, 1);
      case "sop-run-start":
        // Tests are no work, and their failures no alarm.
        if (event.isTest) return;
        return counted.sopStarted.record({ sop: event.sop }, 1);
      case "safety-request":
        return counted.safetyRequests.record({ direction: event.direction }, 1);
      case "safety-refuse":
        return counted.safetyRefusals.record({ reason: event.reason }, 1);
      case "safety-stop":
        return counted.safetyStops.record({ reason: event.reason }, 1);
      case "agent-changed": {
        const labels = { program: event.program };
        if (event.status === "initializing") counted.agentsStarted.record(labels, 1);
        if (event.status === "error") counted.agentsFailed.record(labels, 1);
        return;
      }
      case "safety-reset":
        return counted.safetyResets.record({}, 1);
      case "sop-run-end": {
        if (event.isTest) return;
        const labels = { sop: event.sop, status: event.status };
        counted.sopEnded.record(labels, 1);
        return counted.sopSeconds.record(labels, event.durationMs / 1000);
      }
    }
  };
}
