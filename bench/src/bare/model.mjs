/** A provider of models that answers at once, by each of the three formats: whole, or as a stream where it is asked for one. */
import { createServer } from "node:http";

const TEXT = "This is what the model has to say about the message that it was sent. ".repeat(4);
const WORDS = TEXT.match(/\S+\s*/g);
const TOKENS = { input_tokens: 100, output_tokens: WORDS.length };

const event = (data) => `data: ${JSON.stringify(data)}\n\n`;
const named = (type, rest = {}) => `event: ${type}\n${event({ type, ...rest })}`;

function chatCompletions() {
  const about = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench" };
  const usage = { prompt_tokens: 100, completion_tokens: WORDS.length, total_tokens: 100 + WORDS.length };
  const chunk = (choices, rest = {}) => event({ ...about, object: "chat.completion.chunk", choices, ...rest });
  const piece = (delta, finish_reason = null) => chunk([{ index: 0, delta, finish_reason }]);
  const message = { role: "assistant", content: TEXT };
  return {
    whole: { ...about, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage },
    streamed: [
      piece({ role: "assistant", content: "" }),
      ...WORDS.map((content) => piece({ content })),
      piece({}, "stop"),
      chunk([], { usage }),
      "data: [DONE]\n\n",
    ],
  };
}

function messages() {
  const about = { id: "msg_bench", type: "message", role: "assistant", model: "bench", stop_sequence: null };
  const index = 0;
  const message = { ...about, content: [], stop_reason: null, usage: { ...TOKENS, output_tokens: 1 } };
  return {
    whole: { ...about, content: [{ type: "text", text: TEXT }], stop_reason: "end_turn", usage: TOKENS },
    streamed: [
      named("message_start", { message }),
      named("content_block_start", { index, content_block: { type: "text", text: "" } }),
      named("ping"),
      ...WORDS.map((text) => named("content_block_delta", { index, delta: { type: "text_delta", text } })),
      named("content_block_stop", { index }),
      named("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: TOKENS }),
      named("message_stop"),
    ],
  };
}

function responses() {
  const about = { id: "resp_bench", object: "response", created_at: 1_700_000_000, model: "bench" };
  const usage = {
    ...TOKENS,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const head = { type: "message", id: "msg_bench", role: "assistant" };
  const part = { type: "output_text", text: TEXT, annotations: [] };
  const item = { ...head, status: "completed", content: [part] };
  const whole = { ...about, status: "completed", output: [item], usage };
  const place = { item_id: "msg_bench", output_index: 0, content_index: 0 };
  return {
    whole,
    streamed: [
      named("response.created", { response: { ...about, status: "in_progress", output: [], usage: null } }),
      named("response.output_item.added", { output_index: 0, item: { ...head, status: "in_progress", content: [] } }),
      named("response.content_part.added", { ...place, part: { ...part, text: "" } }),
      ...WORDS.map((delta) => named("response.output_text.delta", { ...place, delta, logprobs: [] })),
      named("response.output_text.done", { ...place, text: TEXT, logprobs: [] }),
      named("response.content_part.done", { ...place, part }),
      named("response.output_item.done", { output_index: 0, item }),
      named("response.completed", { response: whole }),
    ],
  };
}

const texts = ({ whole, streamed }) => ({ whole: JSON.stringify(whole), streamed: streamed.join("") });
const ANSWERS = new Map([
  ["/v1/chat/completions", texts(chatCompletions())],
  ["/v1/messages", texts(messages())],
  ["/v1/responses", texts(responses())],
]);

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (part) => chunks.push(part));
  request.on("end", () => {
    // Not parsed: the stub takes processor time beside what is measured.
    const isStream = Buffer.concat(chunks).includes('"stream":true');
    const answer = ANSWERS.get(request.url);
    const body = isStream ? answer.streamed : answer.whole;
    response.writeHead(200, {
      "content-type": isStream ? "text/event-stream" : "application/json",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`));
