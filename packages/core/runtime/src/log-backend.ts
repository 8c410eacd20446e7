/**
 * The backend `log`: a line for each turn, message, delivery, approval and run of a procedure. What people said, who they
 * are and what a program calls itself stays out: names are those of the config, ids those of this service.
 */
import type { LogFields, Logger, Observer, SvcEvent } from "@svc/contract";

export interface LogBackendOptions {
  readonly log: Logger;
  /** Whether it is the one in force. */
  readonly isOn: () => boolean;
}

export const logBackend = ({ log, isOn }: LogBackendOptions): Observer => ({
  record(event) {
    if (!isOn()) return;
    const line = lineOf(event);
    if (line) log.info(line[0], line[1]);
  },
});

type Line = readonly [message: string, fields: LogFields];

function lineOf(event: SvcEvent): Line | undefined {
  switch (event.type) {
    case "turn-waiting": {
      const { turnId: turn, code, reason, waitMs, attempt } = event;
      return ["a model call failed; will retry", { turn, code, reason, retry_in_ms: Math.round(waitMs), attempt }];
    }
    case "turn-end":
      return [
        event.ok ? "a turn ended" : "a turn failed",
        {
          turn: event.turnId,
          agent: event.agent,
          model: event.model,
          ok: event.ok,
          duration_ms: Math.round(event.durationMs),
          input_tokens: event.inputTokens,
          output_tokens: event.outputTokens,
          cost_usd: event.costUsd,
        },
      ];
    case "message-received":
      return ["a message came in", { ...messageFields(event), turn: event.turnId }];
    case "message-delivered":
      return ["a message was delivered", { ...messageFields(event), turn: event.turnId, attempts: event.attempts }];
    case "message-failed":
      return ["a message was given up", { ...messageFields(event), turn: event.turnId, code: event.code }];
    case "human_approval_request":
      return ["an approval is asked for", { run: event.runId, step: event.stepId, origin: event.origin }];
    case "human_approval_resolved":
      return ["an approval is settled", { run: event.runId, step: event.stepId, outcome: event.outcome }];
    case "sop-run-start":
      return ["a run of a procedure began", { run: event.runId, sop: event.sop, mode: event.mode, test: event.isTest }];
    case "sop-run-end":
      return [
        "a run of a procedure ended",
        {
          run: event.runId,
          sop: event.sop,
          status: event.status,
          error: event.error,
          duration_ms: Math.round(event.durationMs),
          test: event.isTest,
        },
      ];
    default:
      return undefined;
  }
}

/** Not the conversation: its id is a person's number or address on many a platform. */
const messageFields = ({
  messageId,
  conversation,
}: {
  readonly messageId: string;
  readonly conversation: { readonly channel: string };
}): LogFields => ({ messageId, channel: conversation.channel });
