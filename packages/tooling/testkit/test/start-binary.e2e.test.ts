// startBinary and runBinary against a stand-in program that behaves like the daemon, dies early, or ignores SIGTERM.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBinary } from "../src/binary/run-binary.ts";
import { binaryPath } from "../src/binary/spawn-binary.ts";
import { startBinary } from "../src/binary/start-binary.ts";
import { temporaryHome, type TemporaryHome } from "../src/temporary-home.ts";

const PROGRAM = `
  import { createServer } from "node:http";
  const [command, mode] = process.argv.slice(2);
  if (command !== "daemon") {
    let input = "";
    for await (const chunk of process.stdin) input += chunk;
    process.stdout.write(JSON.stringify({ command, input, env: process.env }));
    process.stderr.write("done");
    process.exit(3);
  }
  if (mode === "dies") { console.error("the config is invalid"); process.exit(78); }
  process.on("SIGTERM", () => (mode === "stubborn" ? console.log("no") : process.exit(0)));
  const server = createServer((request, response) => {
    const { authorization, "x-pairing-code": code } = request.headers;
    if (request.url === "/pair") return response.writeHead(code === "123456" ? 200 : 403).end('{"paired":true,"token":"t1"}');
    request.toArray().then((chunks) => response.end(JSON.stringify({ method: request.method, authorization, type: request.headers["content-type"], body: String(Buffer.concat(chunks)), home: process.env.SVC_HOME })));
  });
  server.listen(Number(process.env.SVC__GATEWAY__PORT), "127.0.0.1", () => {
    console.log("pairing code: 123456");
    console.log("svc is listening on http://127.0.0.1:" + server.address().port);
  });
`;

let folder: TemporaryHome;
let binary = "";
beforeAll(() => {
  folder = temporaryHome();
  binary = `${folder.path}/svc`;
  writeFileSync(`${folder.path}/svc.mjs`, PROGRAM);
  writeFileSync(binary, `#!/bin/sh\nexec "${process.execPath}" "${folder.path}/svc.mjs" "$@"\n`);
  chmodSync(binary, 0o755);
});
afterAll(() => folder.remove());

describe("startBinary", () => {
  test("starts in a home of its own, pairs, is asked, stops, and leaves nothing", async () => {
    await using daemon = await startBinary({ binary });
    const token = await daemon.pair();
    const response = await daemon.request("/webhook", { token, body: { message: "hi" } });
    expect(await response.json()).toEqual({
      method: "POST",
      authorization: "Bearer t1",
      type: "application/json",
      body: '{"message":"hi"}',
      home: daemon.home,
    });
    await expect(daemon.pair("000000")).rejects.toThrow("403");
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    await daemon.close();
    expect(existsSync(daemon.home)).toBe(false);
  });

  test("kill9 ends one that ignores SIGTERM", async () => {
    await using daemon = await startBinary({ binary, args: ["stubborn"] });
    void daemon.stop();
    await daemon.waitFor(/^no$/m);
    expect(await daemon.kill9()).toEqual({ code: null, signal: "SIGKILL" });
    await expect(daemon.waitFor(/never said/)).rejects.toThrow("the process ended (SIGKILL)");
  });

  test("a home that was handed in stays", async () => {
    using home = temporaryHome();
    const daemon = await startBinary({ binary, home: home.path });
    await daemon.close();
    expect(existsSync(home.path)).toBe(true);
  });

  test("one that dies at the start is told with what it said", async () => {
    await expect(startBinary({ binary, args: ["dies"] })).rejects.toThrow(/ended \(78\)[^]*the config is invalid/);
  });

  test("a program that doesn't exist is an error, not a hang", async () => {
    await expect(startBinary({ binary: `${folder.path}/nothing` })).rejects.toThrow("ENOENT");
    expect(() => binaryPath({ SVC_BINARY: `${folder.path}/nothing` })).toThrow("there is no binary");
    expect(binaryPath({ SVC_BINARY: binary })).toBe(binary);
  });
});

test("runBinary gives the code and both streams, and hands on nothing of this process's environment but PATH", async () => {
  const { code, stdout, stderr } = await runBinary(["status"], {
    binary,
    home: folder.path,
    input: "in",
    env: { A: "1" },
  });
  const { env, ...said } = JSON.parse(stdout) as { env: Record<string, string> };
  expect([code, stderr, said]).toEqual([3, "done", { command: "status", input: "in" }]);
  expect(
    Object.keys(env)
      .filter((name) => !["PWD", "_", "SHLVL", "OLDPWD"].includes(name))
      .sort(),
  ).toEqual(["A", "PATH", "SVC_HOME"]);
});
