/**
 * The floor of a durable turn: the outer work of http.mjs, and one row for each request, on disk before the answer. What came in
 * during one turn of the event loop is one transaction with one fsync, as the gateway does it.
 */
import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
process.once("SIGTERM", () => process.exit(0));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const db = new DatabaseSync(join(folder, "rows.db"));
db.exec(
  `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
   CREATE TABLE turns (n INTEGER PRIMARY KEY, session TEXT, messages TEXT, at INTEGER)`,
);
const insert = db.prepare("INSERT INTO turns (session, messages, at) VALUES (?, ?, ?)");

let waiting = [];
function keep(session, messages, kept) {
  waiting.push({ session, messages, kept });
  if (waiting.length === 1) setImmediate(commit);
}

function commit() {
  const batch = waiting;
  waiting = [];
  db.exec("BEGIN IMMEDIATE");
  for (const { session, messages } of batch) insert.run(session, messages, Date.now());
  db.exec("COMMIT");
  for (const { kept } of batch) kept();
}

const known = new Set([hash("sha256", "svc_bench")]);
const server = createServer((request, response) => {
  const chunks = [];
  const answer = (status, body) => {
    const text = JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
  };
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const token = (request.headers.authorization ?? "").slice(7);
    if (!known.has(hash("sha256", token))) return answer(401, { error: "A valid bearer token is required." });
    const { message } = JSON.parse(Buffer.concat(chunks).toString());
    const session = request.headers["x-session-id"] ?? "s";
    const turn = JSON.stringify([
      { role: "user", text: message },
      { role: "assistant", text: message },
    ]);
    return keep(session, turn, () => answer(200, { response: message, model: "none", session_id: session }));
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`));
