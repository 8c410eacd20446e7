/** Counters and histograms driven by ended spans. */
import type { ErrorCode, Observer, WorkFacts, WorkKind, WorkResults } from "@svc/contract";
import type { Counted } from "../series/counted.ts";
import { OTHER } from "../series/label-values.ts";

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
