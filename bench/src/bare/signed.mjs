/**
 * What a webhook costs without keeping anything: hono reads the body, checks what proves the sender, and answers. With
 * KEEP_IN each delivery becomes a row first, in a transaction of its own, as one writes it without a second thought.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const secret = process.env.BENCH_SECRET;
const keep = process.env.KEEP_IN === undefined ? () => {} : oneRowEach(process.env.KEEP_IN);

const app = new Hono();
serves("/provider-a", (c, body) => isSigned(c.req.header("x-hub-signature-256")?.slice("sha256=".length), [body]));
serves("/provider-b", (c, body) =>
  isSigned(c.req.header("x-webhook-signature"), [c.req.header("x-webhook-timestamp") ?? "", ".", body]),
);
serves("/provider-c", (c) => isEqual(c.req.query("token"), secret));
serves("/provider-d", (c, body) =>
  isSigned(c.req.header("x-provider-d-signature"), [c.req.header("x-provider-d-random") ?? "", body]),
);
serves("/webhook/mailpush", (c) => isEqual(c.req.header("authorization"), `Bearer ${secret}`));

function serves(path, isProven) {
  app.post(path, async (c) => {
    const body = Buffer.from(await c.req.arrayBuffer());
    if (!isProven(c, body)) return c.json({ error: "Unauthorized", code: "BAD_SIGNATURE" }, 401);
    keep(body);
    return c.json({ status: "ok" });
  });
}

function isSigned(given, parts) {
  const hmac = createHmac("sha256", secret);
  for (const part of parts) hmac.update(part);
  return isEqual(given, hmac.digest("hex"));
}

function isEqual(given = "", wanted = "") {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The id is in the body: `id` of the first message. */
function oneRowEach(file) {
  const db = new DatabaseSync(file);
  db.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
     CREATE TABLE inbox (id TEXT PRIMARY KEY, conversation TEXT, body BLOB, at INTEGER) WITHOUT ROWID`,
  );
  const insert = db.prepare("INSERT OR IGNORE INTO inbox VALUES (?, ?, ?, ?)");
  return (body) => {
    const [message] = JSON.parse(body).entry[0].changes[0].value.messages;
    insert.run(message.id, message.from, body, Date.now());
  };
}

serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) =>
  process.stdout.write(`listening on http://127.0.0.1:${info.port}\n`),
);
