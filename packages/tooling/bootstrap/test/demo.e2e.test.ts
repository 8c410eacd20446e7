// The demo is also what CI starts every profile's binary with: it must go through with a right one and fail, with the
// daemon's own words, for everything that is not as it should be. The binary here is a small stand-in that can be broken.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../checkout.mjs";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-demo-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const standIn = `
const http = require("node:http");
if (process.argv[2] === "--version") { console.log("svc 1.2.3"); process.exit(0); }
let token, key;
const server = http.createServer((request, response) => {
  const answer = (status, body) => { response.writeHead(status); response.end(JSON.stringify(body)); };
  if (request.url === "/health") return answer(200, { status: "ok", instance: "x" });
  if (request.url === "/pair") {
    if (request.headers["x-pairing-code"] !== "123456") return answer(403, { code: "PAIRING_CODE_WRONG" });
    token = "svc_" + "ab".repeat(32);
    return answer(200, { paired: true, token });
  }
  if (!token || request.headers.authorization !== "Bearer " + token) return answer(401, { code: "UNAUTHORIZED" });
  let text = "";
  request.on("data", (part) => (text += part)).on("end", () => {
    if (key === request.headers["x-idempotency-key"]) return answer(200, { status: "duplicate", idempotent: true, message: "…" });
    key = request.headers["x-idempotency-key"];
    answer(200, { response: "You said: " + JSON.parse(text).message, model: "builtin", session_id: "s" });
  });
});
process.on("SIGTERM", () => process.exit(0));
server.listen(0, "127.0.0.1", () => {
  console.error("a word on stderr");
  console.log("listening on http://127.0.0.1:" + server.address().port);
  console.log("pairing code: 123456");
});`;

/** Runs the demo against the stand-in, changed by one replacement. */
function demo(search = "", replacement = "") {
  const at = mkdtempSync(join(folder, "run-"));
  const temp = join(at, "temp");
  mkdirSync(temp);
  const binary = join(at, "svc");
  const source = standIn.replace(search, replacement);
  expect(search === "" || source !== standIn).toBe(true);
  writeFileSync(binary, `#!${process.execPath}\n${source}`);
  chmodSync(binary, 0o755);
  const script = join(root, "packages/tooling/bootstrap/demo.mjs");
  const result = spawnSync(process.execPath, [script, "--binary", binary], {
    encoding: "utf8",
    env: { ...process.env, TMPDIR: temp },
  });
  return { status: result.status, stdout: result.stdout, stderr: result.stderr, left: readdirSync(temp) };
}

describe("npm run demo", () => {
  test("shows every request and answer, the duplicate too, and leaves nothing behind", () => {
    const { status, stdout, left } = demo();
    expect(status).toBe(0);
    for (const shown of [
      "svc 1.2.3",
      "GET /health",
      "POST /pair",
      "POST /webhook",
      '"status":"duplicate"',
      "exit code 0",
    ]) {
      expect(stdout).toContain(shown);
    }
    expect(left).toEqual([]);
  });

  test("keeps the token out of logs", () => {
    expect(demo().stdout).not.toContain("ab".repeat(32));
  });

  test.each([
    ["a replay that runs again", "key = request", "request", "the replay was not recognised"],
    ["a reply to something else", "JSON.parse(text).message", '"nothing"', "the reply does not hold the message"],
    [
      "an open door",
      'if (!token || request.headers.authorization !== "Bearer " + token)',
      "if (false)",
      "expected status 401",
    ],
    ["an answer that is not JSON", "JSON.stringify(body)", '"<html>"', "the answer is not JSON"],
    ["a drain that fails", "process.exit(0));\nserver", "process.exit(3));\nserver", "ended with 3 instead of 0"],
    [
      "a daemon that dies at once",
      "server.listen(",
      'console.error("no such device"); process.exit(78); server.listen(',
      "exit code 78",
    ],
    [
      "a connection that is cut",
      'if (request.url === "/health")',
      "if (true) return request.socket.destroy(); if (0)",
      "fetch failed",
    ],
  ])("%s: fails and shows what the daemon printed", (_name, search, replacement, said) => {
    const { status, stdout, stderr, left } = demo(search, replacement);
    expect(status).not.toBe(0);
    expect(stdout + stderr).toContain(said);
    expect(stderr).toContain("What the daemon printed:");
    expect(left).toEqual([]);
  });

  test("a file that is no program, and a missing one, are said", () => {
    expect(demo('console.log("svc 1.2.3")', "throw 1").status).toBe(70);
    const script = join(root, "packages/tooling/bootstrap/demo.mjs");
    const missing = spawnSync(process.execPath, [script, "--binary", join(folder, "none")], { encoding: "utf8" });
    expect(missing.status).toBe(66);
  });
});
