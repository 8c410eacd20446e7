// aim: start-up speed. A valid config is loaded without the parsers and libraries that only mistakes need.
// Also: a key or config made by many processes at once, or by one that is killed, is whole.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = mkdtempSync(join(tmpdir(), "svc-config-e2e-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const lib = new URL("../src/index.ts", import.meta.url).href;
const program = (body: string) => ["--input-type=module", "--eval", `const lib = await import("${lib}");\n${body}`];

test("a valid config loads without the parser of places, JSON Schema or edit distances", async () => {
  const home = join(root, "lazy");
  const body = `
    const home = lib.homeOf({ SVC_HOME: ${JSON.stringify(home)} });
    const { registerHooks } = await import("node:module");
    await lib.writeDefaultConfig(home, []);
    const loaded = [];
    registerHooks({ resolve: (name, context, next) => { loaded.push(name); return next(name, context); } });
    const options = { home, env: { SVC__GATEWAY__PORT: "1" }, features: [], catalogue: [] };
    await lib.loadConfig(options);
    const valid = loaded.splice(0);
    await lib.loadConfig({ ...options, env: { SVC__GATEWAY__PROT: "1" } }).catch(() => undefined);
    console.log(JSON.stringify({ valid, invalid: loaded }));`;
  const { stdout } = await run(process.execPath, program(body));
  const { valid, invalid } = JSON.parse(stdout) as { valid: string[]; invalid: string[] };
  expect(valid).toEqual([]);
  expect(invalid).toEqual(expect.arrayContaining(["toml-eslint-parser", "fastest-levenshtein"]));
});

test("processes that make the key at once all get the one that stayed", async () => {
  const home = join(root, "race");
  const body = `
    const home = lib.homeOf({ SVC_HOME: ${JSON.stringify(home)} });
    const key = lib.openSecretKey(home, { create: true });
    console.log(key.export().toString("hex"));`;
  const runs = await Promise.all(Array.from({ length: 6 }, () => run(process.execPath, program(body))));
  const keys = new Set(runs.map(({ stdout }) => stdout.trim()));
  expect([...keys]).toEqual([readFileSync(join(home, ".secret_key"), "utf8").trim()]);
});

test("killed at any instant, the key is whole or not there", async () => {
  const home = join(root, "killed");
  const body = `
    const { rmSync } = await import("node:fs");
    const home = lib.homeOf({ SVC_HOME: ${JSON.stringify(home)} });
    process.stdout.write("ready");
    for (;;) { lib.openSecretKey(home, { create: true }); rmSync(home.secretKey); }`;
  const left: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const child = spawn(process.execPath, program(body), { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.once("close", resolve));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGKILL");
    await ended;
    const file = join(home, ".secret_key");
    if (existsSync(file)) left.push(readFileSync(file, "utf8"));
    rmSync(home, { recursive: true, force: true });
  }
  expect(left.filter((text) => !/^[0-9a-f]{64}\n$/.test(text))).toEqual([]);
});
