/**
 * The floor: node:http doing the outer work of POST /webhook. Reads the body, checks the bearer by hash, parses, answers.
 * Plain JavaScript: stripping types would cost 11 MB of memory that is not its own.
 */
import { hash } from "node:crypto";
import { createServer } from "node:http";

const known = new Set([hash("sha256", "svc_bench")]);
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const token = (request.headers.authorization ?? "").slice(7);
    const answer = known.has(hash("sha256", token))
      ? {
          status: 200,
          body: {
            response: JSON.parse(Buffer.concat(chunks).toString()).message,
            model: "none",
            session_id: "s",
          },
        }
      : { status: 401, body: { error: "A valid bearer token is required.", code: "UNAUTHORIZED" } };
    const text = JSON.stringify(answer.body);
    response.writeHead(answer.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`));
