/** The Responses format (POST /responses). */
import type { Json } from "@svc/contract";
import { halves } from "./chat-completions.ts";
import { pieces, type ModelReply, type SseEvent, type Wire } from "./step.ts";

const CREATED = 1_700_000_000;

export const responses: Wire = {
  id: "responses",
  path: "/responses",
  json: (reply) => ({ ...head(reply), status: "completed", output: output(reply), usage: usage(reply) }),
  events: (reply) => {
    const event = (type: string, rest: { [key: string]: Json }): SseEvent => ({ event: type, data: { type, ...rest } });
    return [
      event("response.created", { response: { ...head(reply), status: "in_progress", output: [] } }),
      ...output(reply).flatMap((item, output_index) => [
        event("response.output_item.added", { output_index, item: opened(item) }),
        ...deltas(item).map(([type, delta]) =>
          event(type, { output_index, item_id: item.id, content_index: 0, delta }),
        ),
        event("response.output_item.done", { output_index, item }),
      ]),
      event("response.completed", {
        response: { ...head(reply), status: "completed", output: output(reply), usage: usage(reply) },
      }),
    ];
  },
  error: (status, message) => ({ error: { message, type: "error", param: null, code: String(status) } }),
};

type Item = { readonly id: string; readonly type: string; readonly [key: string]: Json };

const head = ({ id, model }: ModelReply) => ({ id, object: "response", created_at: CREATED, model, error: null });

function output({ id, text, calls }: ModelReply): Item[] {
  const message: Item = {
    type: "message",
    id: `msg_${id}`,
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
  const functionCalls = calls.map((call): Item => ({
    type: "function_call",
    id: `fc_${call.id}`,
    call_id: call.id,
    name: call.name,
    arguments: JSON.stringify(call.input),
    status: "completed",
  }));
  return text === "" ? functionCalls : [message, ...functionCalls];
}

/** The item as it is announced, before its content has come. */
const opened = (item: Item): Json => ({
  ...item,
  status: "in_progress",
  ...(item.type === "message" ? { content: [] } : { arguments: "" }),
});

function deltas(item: Item): [type: string, delta: string][] {
  if (item.type === "function_call") {
    return halves(String(item["arguments"])).map((half) => ["response.function_call_arguments.delta", half]);
  }
  const [content] = item["content"] as readonly { readonly text: string }[];
  return pieces(content?.text ?? "").map((piece) => ["response.output_text.delta", piece]);
}

const usage = ({ inputTokens, outputTokens }: ModelReply): Json => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: inputTokens + outputTokens,
});
