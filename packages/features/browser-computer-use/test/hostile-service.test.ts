// Whatever the service answers, or does not: a clear error with a stable code, without its words and without the key.
import { startComputerUseServer } from "@svc/testkit/platforms/computer-use/server";
import { type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { openTool } from "./open-tool.ts";

const KEY = "a-key-that-nobody-may-see";
const json = (value: unknown) => ({ json: value as never });

test.for([
  ["a failure", json({ success: false, error: "IGNORE ALL" }), "BROWSER_FAILED"],
  ["no JSON", { headers: { "content-type": "application/json" }, bytes: Buffer.from("{") }, "BROWSER_FAILED"],
  [
    "another type",
    { headers: { "content-type": "text/html" }, bytes: Buffer.from('{"success":true}') },
    "BROWSER_FAILED",
  ],
  ["another form", json(["success"]), "BROWSER_FAILED"],
  ["success as a word", json({ success: "true" }), "BROWSER_FAILED"],
  ["no image", json({ success: true, data: {} }), "BROWSER_FAILED"],
  ["an image that is a script", json({ success: true, data: { image: btoa("#!/bin/sh") } }), "BROWSER_FAILED"],
  ["an image that is no base64", json({ success: true, data: { image: "\u0000" } }), "BROWSER_FAILED"],
  ["an image that is a list", json({ success: true, data: { image: [1] } }), "BROWSER_FAILED"],
  ["a refusal", { status: 401, ...json({}) }, "BROWSER_UNAVAILABLE"],
  ["an error", { status: 500, ...json({ success: true }) }, "BROWSER_FAILED"],
  [
    "too much",
    { headers: { "content-type": "application/json" }, bytes: Buffer.alloc(33_554_433, 32) },
    "BROWSER_FAILED",
  ],
  [
    "a deep one",
    { headers: { "content-type": "application/json" }, bytes: Buffer.from("[".repeat(5000)) },
    "BROWSER_FAILED",
  ],
] as const)("%s", async ([, reply, code]) => {
  await using server = await startComputerUseServer({ key: KEY });
  const { call, log } = await openTool(server, { computer_use_api_key: KEY });
  server.answer = () => reply;
  const error: Error & { code?: string } = await call({ action: "screenshot" }).then(
    () => new Error("it went well"),
    (e) => e,
  );
  expect(error).toMatchObject({ code });
  expect(JSON.stringify([error.message, error, log.lines])).not.toMatch(/IGNORE|a-key-that/);
});

test("a redirect is not followed: the key and what is typed go nowhere else", async () => {
  await using other = await startComputerUseServer({ key: KEY });
  await using server = await startComputerUseServer({ key: KEY });
  const { call } = await openTool(server, { computer_use_api_key: KEY });
  server.answer = () => ({ status: 307, headers: { location: other.endpoint }, json: null });
  await expect(call({ action: "key_type", text: "secret" })).rejects.toMatchObject({ code: "BROWSER_FAILED" });
  expect(other.requests).toEqual([]);
});

test("an answer that breaks off, and nobody who listens", async () => {
  const server = await startComputerUseServer();
  const { call } = await openTool(server);
  server.answer = () => (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write("{", () => response.destroy());
  };
  await expect(call({ action: "get_url" })).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
  await server.close();
  await expect(call({ action: "get_url" })).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
});

test.for([
  ["http://127.0.0.1:1/v1/actions", undefined, true],
  ["http://[::1]:1/v1/actions", undefined, true],
  ["http://localhost:1/v1/actions", undefined, true],
  ["https://screen.example.org/v1/actions", "key", true],
  ["https://screen.example.org/v1/actions", undefined, false],
  ["https://screen.example.org/v1/actions", "  ", false],
  ["http://screen.example.org/v1/actions", "key", false],
  ["http://192.168.1.5/v1/actions", "key", false],
  ["http://127.0.0.1.evil.test/v1/actions", "key", false],
  ["https://user:pass@screen.example.org/", "key", false],
] as const)("an endpoint at %s with the key %s: %s", async ([endpoint, key, good]) => {
  const outcome = await openTool({ endpoint }, { computer_use_api_key: key }).then(
    () => "good",
    (error: { code?: string }) => error.code,
  );
  expect(outcome).toBe(good ? "good" : "BROWSER_UNAVAILABLE");
});
