/** A provider of models that answers at once, by Chat Completions: whole, or as a stream where it is asked for one. */
import { createServer } from "node:http";

const TEXT = "This is what the model has to say about the message that it was sent. ".repeat(4);
const WORDS = TEXT.match(/\S+\s*/g);
const USAGE = { prompt_tokens: 100, completion_tokens: WORDS.length, total_tokens: 100 + WORDS.length };
const ABOUT = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench" };

const whole = JSON.stringify({
  ...ABOUT,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
  usage: USAGE,
});

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ ...ABOUT, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const streamed = [
  chunk({ role: "assistant", content: "" }),
  ...WORDS.map((content) => chunk({ content })),
  chunk({}, "stop"),
  `data: ${JSON.stringify({ ...ABOUT, object: "chat.completion.chunk", choices: [], usage: USAGE })}\n\n`,
  "data: [DONE]\n\n",
].join("");

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (part) => chunks.push(part));
  request.on("end", () => {
    // Not parsed: the stub takes processor time beside what is measured.
    const isStream = Buffer.concat(chunks).includes('"stream":true');
    const body = isStream ? streamed : whole;
    response.writeHead(200, {
      "content-type": isStream ? "text/event-stream" : "application/json",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`));
