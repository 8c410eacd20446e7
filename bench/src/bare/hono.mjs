/** The same work on hono with @hono/node-server. */
import { hash } from "node:crypto";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const known = new Set([hash("sha256", "svc_bench")]);
const app = new Hono();
app.post("/webhook", async (c) => {
  const body = Buffer.from(await c.req.arrayBuffer());
  const token = (c.req.header("authorization") ?? "").slice(7);
  if (!known.has(hash("sha256", token)))
    return c.json({ error: "A valid bearer token is required.", code: "UNAUTHORIZED" }, 401);
  const { message } = JSON.parse(body.toString());
  return c.json({ response: message, model: "none", session_id: "s" });
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) =>
  process.stdout.write(`listening on http://127.0.0.1:${info.port}\n`),
);
