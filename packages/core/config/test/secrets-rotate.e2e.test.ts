// bug this exists for: kill -9, or another command, at the one instant when a secret is sealed with a key that goes.
import { execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeEach, expect, test } from "vitest";
import { hashedSecret, homeOf, loadConfig, openKeyRing, replaceFile, sealConfigFile } from "../src/index.ts";

const run = promisify(execFile);
const root = mkdtempSync(join(tmpdir(), "svc-rotate-e2e-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const home = homeOf({ SVC_HOME: join(root, "home") });
const vaultFile = join(root, "vault.json");
const lib = new URL("../src/index.ts", import.meta.url).href;
const program = (body: string) => [
  "--input-type=module",
  "--eval",
  `const lib = await import("${lib}");
   const { readFileSync } = await import("node:fs");
   const home = lib.homeOf({ SVC_HOME: ${JSON.stringify(home.root)} });
   const file = ${JSON.stringify(vaultFile)};
   const vault = { async reseal(open, seal) {
     const kept = JSON.parse(readFileSync(file, "utf8"));
     lib.replaceFile(file, JSON.stringify(kept.map((sealed) => seal(open(sealed)))));
   } };
   const options = { home, features: [], vault, env: {} };
   ${body}`,
];

const load = () => loadConfig({ home, env: {}, features: [], catalogue: [] });

beforeEach(async () => {
  rmSync(home.root, { recursive: true, force: true });
  const ring = openKeyRing(home);
  replaceFile(vaultFile, JSON.stringify(["v1", "v2"].map((text) => ring.seal(text))));
  replaceFile(home.config, '[model]\napi_key = "model-key"\n[channels_config.webhook]\nsecret = "web-secret"\n');
  await sealConfigFile({ home, features: [] });
});

async function expectAllReadable(): Promise<void> {
  const { core } = await load();
  expect([core.model.api_key, core["channels_config.webhook"].secret]).toEqual([
    "model-key",
    hashedSecret("web-secret"),
  ]);
  const kept = JSON.parse(readFileSync(vaultFile, "utf8")) as string[];
  expect(kept.map((sealed) => openKeyRing(home).open(sealed))).toEqual(["v1", "v2"]);
}

test("killed at any instant of a rotation, every secret can be read, and the next rotation goes through", async () => {
  const body = `process.stdout.write("ready"); for (;;) await lib.rotateSecretKey(options);`;
  let halfway = 0;
  for (let round = 0; round < 8 || (halfway === 0 && round < 200); round += 1) {
    const child = spawn(process.execPath, program(body), { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.once("close", resolve));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    // How far the rotations get until then is chance; that is the point.
    await new Promise((resolve) => setTimeout(resolve, (round % 8) * 9));
    child.kill("SIGKILL");
    await ended;
    if (existsSync(`${home.secretKey}.next`)) halfway += 1;
    await expectAllReadable();
  }
  await run(process.execPath, program("await lib.rotateSecretKey(options);"));
  await expectAllReadable();
  expect(existsSync(`${home.secretKey}.next`)).toBe(false);
  expect(halfway).toBeGreaterThan(0);
});

test("rotated over and over, while others set secrets and load the config: nobody loses or misreads one", async () => {
  const set = (key: string) => `
    let done = 0;
    for (let count = 0; count < 15; count += 1) {
      const value = ${JSON.stringify(key)} + count;
      await lib.setConfigSecret({ ...options, key: ${JSON.stringify(key)}, value });
      const config = await lib.loadConfig({ ...options, catalogue: [] });
      if (!config.secrets().includes(value)) throw new Error("lost " + value);
      done += 1;
    }
    console.log(done);`;
  const rotating = spawn(
    process.execPath,
    program(`for (;;) { await lib.rotateSecretKey(options); process.stdout.write("."); }`),
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let rotations = 0;
  rotating.stdout.on("data", (dots: Buffer) => (rotations += dots.length));
  const ended = new Promise((resolve) => rotating.once("close", resolve));
  const setters = ["agents.one.model.api_key", "agents.two.model.api_key"].map((key) =>
    run(process.execPath, program(set(key))),
  );
  try {
    expect((await Promise.all(setters)).map(({ stdout }) => stdout.trim())).toEqual(["15", "15"]);
  } finally {
    rotating.kill("SIGKILL");
    await ended;
  }
  expect(rotations).toBeGreaterThan(3);
  await expectAllReadable();
  const { agents } = (await load()).core;
  expect(agents["one"]?.model?.api_key).toBe("agents.one.model.api_key14");
  expect(agents["two"]?.model?.api_key).toBe("agents.two.model.api_key14");
});

test("a file or folder that this user may not write is said, and nothing is changed", async (context) => {
  context.skip(process.platform === "win32", "Windows has no permission bits");
  const plain = '[model]\napi_key = "k"\n';
  // The superuser may write anything: it becomes somebody else first.
  const nobody = 65_534;
  const body = `
    if (process.getuid() === 0) { process.setgid(${nobody}); process.setuid(${nobody}); }
    const told = [];
    for (const task of [
      () => lib.sealConfigFile(options),
      () => lib.setConfigSecret({ ...options, key: "model.api_key", value: "other" }),
    ]) await task().then(() => told.push("done"), (error) => told.push(error.code + " " + error.message));
    console.log(JSON.stringify(told));`;
  rmSync(home.secretKey);
  const told = async (fileMode: number, folderMode: number) => {
    writeFileSync(home.config, plain);
    chmodSync(home.config, fileMode);
    chmodSync(home.root, folderMode);
    const { stdout } = await run(process.execPath, program(body));
    chmodSync(home.root, 0o700);
    expect(readFileSync(home.config, "utf8")).toBe(plain);
    expect(statSync(home.secretKey, { throwIfNoEntry: false })).toBeUndefined();
    return JSON.parse(stdout) as string[];
  };
  chmodSync(root, 0o755);
  const refusal = `CONFIG_UNWRITABLE ${home.config} can't be written: this user may not write it, or its folder.`;
  expect(await told(0o444, 0o555)).toEqual([refusal, refusal]);
});
