/**
 * Events as they leave the process. Every type is written out: a field that is added inside goes out only when somebody adds
 * it here, and a ClientId never does. What is absent is null.
 */
import type { ClientId, Conversation, Json, SvcEvent } from "@svc/contract";

export interface WireOptions {
  /** Takes secrets out of texts that come from outside. */
  readonly redact: (text: string) => string;
  /** Id of the paired device that an owner is; undefined: it is none. */
  readonly deviceOf: (owner: ClientId) => string | undefined;
}

type Payload = { readonly [key: string]: Json };

export function payloadOf(event: SvcEvent, { redact, deviceOf }: WireOptions): Payload {
  const outside = (text: string | undefined): string | null => (text === undefined ? null : redact(text));
  switch (event.type) {
    case "turn-start":
    case "turn-store":
    case "text-delta":
    case "turn-waiting":
    case "tool-call":
    case "tool-result":
    case "turn-end": {
      const { turnId, sessionId, conversationId, owner } = event;
      const of = { turn_id: turnId, conversation_id: conversationId, session_id: sessionId };
      return { ...of, device: deviceOf(owner) ?? null, ...ofTurn(event) };
    }
    case "session-updated":
      return { id: event.id, session_id: event.sessionId, device: deviceOf(event.owner) ?? null };
    case "message-received":
      return {
        message_id: event.messageId,
        conversation: conversationOf(event.conversation),
        sender: event.sender,
        turn_id: event.turnId,
      };
    case "message-delivered":
      return { ...ofDelivery(event), attempts: event.attempts };
    case "message-failed":
      return { ...ofDelivery(event), code: event.code };
    case "channel_event":
      return {
        event: redact(event.event),
        title: outside(event.title),
        message: outside(event.message),
        channels: event.channels,
      };
    case "human_approval_request":
      return {
        run_id: event.runId,
        step_id: event.stepId,
        origin: event.origin,
        title: redact(event.title),
        message: redact(event.message),
        channels: event.channels,
        approve_keywords: event.approveKeywords,
        reject_keywords: event.rejectKeywords,
        expires_at: timestamp(event.expiresAtMs),
      };
    case "human_approval_resolved":
      return {
        run_id: event.runId,
        step_id: event.stepId,
        approved: event.approved,
        outcome: event.outcome,
        feedback: outside(event.feedback),
        by: redact(event.by),
      };
    case "sop-run-start":
      return { run_id: event.runId, sop: event.sop, mode: event.mode, started_by: event.startedBy, ...testOf(event) };
    case "sop-run-step":
      return { run_id: event.runId, sop: event.sop, step: event.step, status: event.status, ...testOf(event) };
    case "sop-run-end":
      return {
        run_id: event.runId,
        sop: event.sop,
        status: event.status,
        error: event.error ?? null,
        duration_ms: event.durationMs,
        ...testOf(event),
      };
    case "sop-change":
      return {};
    case "channel-health":
      return { channel: event.channel, feature: event.feature, state: event.state, reason: event.reason ?? null };
    case "hardware-changed":
      return { added: event.added, removed: event.removed, connected: event.connected };
    case "safety-request": {
      const { direction, speed, distance, seconds, by } = event;
      return { direction, speed, distance: distance ?? null, seconds: seconds ?? null, by: redact(by) };
    }
    case "safety-refuse":
      return { reason: event.reason, message: redact(event.message), by: redact(event.by) };
    case "safety-stop": {
      const { reason, message, layer, travelled, confirmed, latched, by } = event;
      return { reason, message: redact(message), layer: layer ?? null, travelled, confirmed, latched, by: redact(by) };
    }
    case "agent-changed": {
      const { agentId, title, parent, program, status, reason, costUsd } = event;
      return {
        agent_id: agentId,
        title: redact(title),
        parent: parent ?? null,
        program,
        status,
        reason: reason === undefined ? null : redact(reason),
        cost_usd: costUsd ?? null,
      };
    }
    case "safety-reset":
      return { by: redact(event.by) };
    case "voice-state": {
      const { channel, state, transcriptions, limit, costUsd } = event;
      return { channel, state, transcriptions, limit, cost_usd: costUsd ?? null };
    }
  }
}

type Turn = Extract<SvcEvent, { readonly turnId: string; readonly sessionId: string }>;

function ofTurn(event: Turn): Payload {
  switch (event.type) {
    case "turn-start":
      return { agent: event.agent };
    case "turn-store":
      return {};
    case "text-delta":
      return { text: event.text, offset: event.offset };
    case "turn-waiting": {
      const { code, reason, message, waitMs, attempt, attempts } = event;
      return { code, reason, message, retry_in_ms: Math.round(waitMs), attempt, attempts };
    }
    case "tool-call":
      return { call_id: event.callId, tool: event.tool };
    case "tool-result":
      return { call_id: event.callId, tool: event.tool, ok: event.ok, outcome: event.outcome };
    case "turn-end":
      return {
        agent: event.agent,
        ok: event.ok,
        model: event.model,
        duration_ms: event.durationMs,
        input_tokens: event.inputTokens,
        output_tokens: event.outputTokens,
        cost_usd: event.costUsd ?? null,
      };
  }
}

/** Said of a test run alone, so that whoever counts runs can tell them apart. */
const testOf = ({ isTest }: { readonly isTest?: true }): Payload => (isTest ? { test: true } : {});

type Delivery = Extract<SvcEvent, { readonly type: "message-delivered" | "message-failed" }>;

const ofDelivery = ({ messageId, conversation, turnId }: Delivery): Payload => ({
  message_id: messageId,
  conversation: conversationOf(conversation),
  turn_id: turnId ?? null,
});

const conversationOf = ({ channel, id, thread }: Conversation): Payload => ({ channel, id, thread: thread ?? null });

/** A clock that was set to nonsense must not make publishing throw. */
export function timestamp(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}
