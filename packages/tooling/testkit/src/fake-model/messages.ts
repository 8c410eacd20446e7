/** The Messages format (POST /messages). */
import type { Json } from "@svc/contract";
import { halves } from "./chat-completions.ts";
import { pieces, type ModelReply, type SseEvent, type Wire } from "./step.ts";

export const messages: Wire = {
  id: "messages",
  path: "/messages",
  json: (reply) => ({
    ...head(reply),
    content: blocks(reply),
    stop_reason: stopReason(reply),
    stop_sequence: null,
    usage: { input_tokens: reply.inputTokens, output_tokens: reply.outputTokens },
  }),
  events: (reply) => {
    const event = (type: string, rest: { [key: string]: Json } = {}): SseEvent => ({
      event: type,
      data: { type, ...rest },
    });
    return [
      event("message_start", {
        message: {
          ...head(reply),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: reply.inputTokens, output_tokens: 1 },
        },
      }),
      event("ping"),
      ...blocks(reply).flatMap((block, index) => [
        event("content_block_start", { index, content_block: opened(block) }),
        ...deltas(block).map((delta) => event("content_block_delta", { index, delta })),
        event("content_block_stop", { index }),
      ]),
      event("message_delta", {
        delta: { stop_reason: stopReason(reply), stop_sequence: null },
        usage: { output_tokens: reply.outputTokens },
      }),
      event("message_stop"),
    ];
  },
  error: (status, message) => ({
    type: "error",
    error: { type: status === 429 ? "rate_limit_error" : "api_error", message },
  }),
};

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: Json };

const head = ({ id, model }: ModelReply) => ({ id, type: "message", role: "assistant", model });

function blocks({ text, calls }: ModelReply): Block[] {
  const uses = calls.map(({ id, name, input }): Block => ({ type: "tool_use", id, name, input }));
  return text === "" ? uses : [{ type: "text", text }, ...uses];
}

const opened = (block: Block): Json => (block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} });

const deltas = (block: Block): Json[] =>
  block.type === "text"
    ? pieces(block.text).map((text) => ({ type: "text_delta", text }))
    : halves(JSON.stringify(block.input)).map((partial_json) => ({ type: "input_json_delta", partial_json }));

const stopReason = ({ calls }: ModelReply): string => (calls.length > 0 ? "tool_use" : "end_turn");
