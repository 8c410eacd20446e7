/**
 * What a piece of work is called as a span, and what is told of it, by OpenTelemetry's semantic conventions:
 *
 *   HTTP       https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 *   messaging  https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 *   GenAI      https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/, gen-ai-spans/
 *   commands   https://opentelemetry.io/docs/specs/semconv/registry/attributes/process/
 *
 * The names are written out: most of these conventions are not stable, and constants that the library renames would rename
 * what an operator searches for. A test compares them with the library's. What they have no name for begins with `svc.`.
 */
import { type Attributes, SpanKind } from "@opentelemetry/api";
import type { WorkFacts, WorkKind, WorkResults } from "@svc/contract";

export interface SpanShape<Kind extends WorkKind> {
  readonly kind: SpanKind;
  /** From bounded sets. */
  name(facts: WorkFacts[Kind]): string;
  attributes(facts: WorkFacts[Kind]): Attributes;
  outcome(result: WorkResults[Kind]): SpanOutcome;
}

export interface SpanOutcome {
  readonly attributes: Attributes;
  /** `error.type`; undefined: it went well. A code, never a message. */
  readonly error: string | undefined;
}

export const SHAPES: { readonly [Kind in WorkKind]: SpanShape<Kind> } = {
  request: {
    kind: SpanKind.SERVER,
    name: ({ method, route }) => `${method} ${route}`,
    attributes: ({ method, route }) => ({ "http.request.method": method, "http.route": route }),
    outcome: ({ status }) =>
      status === undefined
        ? { attributes: { "error.type": "client_gone" }, error: undefined }
        : {
            attributes: { "http.response.status_code": status },
            // That a client asked for what there is not is no error of a server's.
            error: status >= 500 ? String(status) : undefined,
          },
  },
  inbox: {
    kind: SpanKind.CONSUMER,
    name: ({ channel }) => `receive ${channel}`,
    attributes: ({ channel, messageId }) => messaging("receive", channel, messageId),
    outcome: ({ error }) => ({ attributes: {}, error }),
  },
  turn: {
    kind: SpanKind.INTERNAL,
    name: ({ agent }) => `invoke_agent ${agent}`,
    attributes: ({ agent, sessionId, turnId, model, channel }) => ({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": agent,
      "gen_ai.conversation.id": sessionId,
      "gen_ai.request.model": model,
      "svc.turn.id": turnId,
      "svc.channel": channel,
    }),
    outcome: usage,
  },
  "model-call": {
    kind: SpanKind.CLIENT,
    name: ({ model }) => `chat ${model}`,
    attributes: ({ provider, model, agent, step }) => ({
      "gen_ai.operation.name": "chat",
      // The well-known values are those of `[model] provider`; what is only compatible with one of them says so.
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
      "gen_ai.agent.name": agent,
      "svc.turn.step": step,
    }),
    outcome: usage,
  },
  "tool-call": {
    kind: SpanKind.INTERNAL,
    name: ({ tool }) => `execute_tool ${tool}`,
    attributes: ({ tool, callId }) => ({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": callId,
    }),
    outcome: ({ error }) => ({ attributes: {}, error }),
  },
  command: {
    kind: SpanKind.INTERNAL,
    name: ({ backend }) => `command ${backend}`,
    attributes: ({ backend }) => ({ "svc.sandbox.backend": backend }),
    outcome: ({ outcome, exitCode }) => ({
      attributes: { "svc.command.outcome": outcome, "process.exit.code": exitCode },
      // A command that says no by its exit code was run all right.
      error: outcome === "exited" ? undefined : outcome,
    }),
  },
  delivery: {
    kind: SpanKind.PRODUCER,
    name: ({ channel }) => `send ${channel}`,
    attributes: ({ channel, messageId, attempt }) => ({
      ...messaging("send", channel, messageId),
      "svc.delivery.attempt": attempt,
    }),
    outcome: ({ error }) => ({ attributes: {}, error }),
  },
};

const messaging = (operation: "receive" | "send", channel: string, messageId: string): Attributes => ({
  // Of the name that most tools know, and of that which took its place.
  "messaging.system": channel,
  "messaging.system.name": channel,
  "messaging.operation.name": operation,
  "messaging.operation.type": operation,
  "messaging.destination.name": channel,
  "messaging.message.id": messageId,
});

function usage({ inputTokens, outputTokens, costUsd, error }: WorkResults["turn"]): SpanOutcome {
  return {
    attributes: {
      "gen_ai.usage.input_tokens": inputTokens,
      "gen_ai.usage.output_tokens": outputTokens,
      "svc.cost_usd": costUsd,
    },
    error,
  };
}
