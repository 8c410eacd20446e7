/** The Chat Completions format (POST /chat/completions), spoken by most servers. */
import type { Json } from "@svc/contract";
import { pieces, type ModelReply, type Wire } from "./step.ts";

const CREATED = 1_700_000_000;

export const chatCompletions: Wire = {
  id: "chat-completions",
  path: "/chat/completions",
  json: (reply) => ({
    id: reply.id,
    object: "chat.completion",
    created: CREATED,
    model: reply.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: reply.text === "" ? null : reply.text,
          ...(reply.calls.length > 0 && { tool_calls: reply.calls.map(toolCall) }),
        },
        finish_reason: finishReason(reply),
      },
    ],
    usage: usage(reply),
  }),
  events: (reply) => {
    const chunk = (choices: Json, rest: { [key: string]: Json } = {}) => ({
      data: { id: reply.id, object: "chat.completion.chunk", created: CREATED, model: reply.model, choices, ...rest },
    });
    const delta = (delta: Json) => chunk([{ index: 0, delta, finish_reason: null }]);
    return [
      delta({ role: "assistant", content: "" }),
      ...pieces(reply.text).map((content) => delta({ content })),
      ...reply.calls.flatMap(({ id, name, input }, index) => [
        delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        ...halves(JSON.stringify(input)).map((half) =>
          delta({ tool_calls: [{ index, function: { arguments: half } }] }),
        ),
      ]),
      chunk([{ index: 0, delta: {}, finish_reason: finishReason(reply) }]),
      chunk([], { usage: usage(reply) }),
      { data: "[DONE]" },
    ];
  },
  error: (status, message) => ({
    error: { message, type: status === 429 ? "rate_limit" : "error", code: String(status) },
  }),
};

const toolCall = ({ id, name, input }: ModelReply["calls"][number]): Json => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});

const finishReason = ({ calls }: ModelReply): string => (calls.length > 0 ? "tool_calls" : "stop");

const usage = ({ inputTokens, outputTokens }: ModelReply): Json => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

/** Arguments arrive in parts; who doesn't put them together again has half a JSON text. */
export const halves = (text: string): string[] => [
  text.slice(0, Math.ceil(text.length / 2)),
  text.slice(Math.ceil(text.length / 2)),
];
