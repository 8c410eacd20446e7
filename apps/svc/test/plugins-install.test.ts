// Plugins as a person and a script have them, with the real binary: installed while the daemon runs, called at once, replaced and
// removed without a restart; killed in the middle; and nothing of a build without plugins breaks.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { runBinary, type RunResult } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { selfSigned } from "@svc/testkit/self-signed";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";

const binary = fullestBinaryPath();
const ROOT = join(import.meta.dirname, "../../..");
const PACKAGE = join(ROOT, "packages/features/plugins-wasm");

const svc = (home: string, ...args: string[]): Promise<RunResult> => runBinary(args, { home, binary });
const json = async (home: string, ...args: string[]): Promise<any> =>
  JSON.parse((await svc(home, ...args, "--json")).stdout);

/** A copy of an example, built. Returns its folder and the hash of its wasm. */
function example(name: string, folder: string): { folder: string; hash: string } {
  cpSync(join(PACKAGE, "examples", name), folder, { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  for (const library of ["assemblyscript", "wabt"]) {
    symlinkSync(join(PACKAGE, "node_modules", library), join(folder, "node_modules", library));
  }
  execFileSync(process.execPath, [join(folder, "build.mjs")]);
  return {
    folder,
    hash: createHash("sha256")
      .update(readFileSync(join(folder, "plugin.wasm")))
      .digest("hex"),
  };
}

describe("the examples", () => {
  test.each(["word-count", "shout"])("%s builds to what its plugin.toml says, wherever it is built", (name) => {
    using home = temporaryHome();
    const { folder } = example(name, join(home.path, name));
    expect(readFileSync(join(folder, "plugin.toml"), "utf8")).toBe(
      readFileSync(join(PACKAGE, "examples", name, "plugin.toml"), "utf8"),
    );
  });
});

test("a daemon has a plugin as soon as it is installed, replaced, and removed, and is never restarted", async () => {
  using home = temporaryHome();
  const words = example("word-count", join(home.path, "word-count"));
  const shout = example("shout", join(home.path, "shout"));
  // On a busy machine their second may be over before they begin.
  for (const { folder } of [words, shout])
    change(folder, (toml) => toml.replace(/timeout_ms = \d+/, "timeout_ms = 60000"));
  await using daemon = await startBinary({ binary, home: home.path });
  const call = (tool: string, input: string): Promise<any> =>
    json(home.path, "tools", "run", tool, "--input", JSON.stringify({ input }));

  const first = await svc(home.path, "plugin", "install", words.folder, "--sha256", words.hash, "--yes");
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain("word_count 1.0.0 is installed");
  expect(first.stdout).toContain("plugins-wasm");
  expect(await call("plugin_word_count", "eins zwei\ndrei 🙂\n")).toEqual({
    ok: true,
    output: "2 lines, 4 words, 17 characters",
  });
  expect(await json(home.path, "plugin", "info", "word_count")).toMatchObject({ running: "yes", sha256: words.hash });

  // The section is there already: only what the feature is made of has changed.
  const second = await svc(home.path, "plugin", "install", shout.folder, "--sha256", shout.hash);
  expect(second.stdout).toContain("started anew: plugins-wasm");
  expect(await call("plugin_shout", "gruß aus Köln")).toEqual({ ok: true, output: "GRUß AUS KöLN" });

  change(shout.folder, (toml) => toml.replace("1.0.0", "1.1.0").replace("max_output_kb = 64", "max_output_kb = 1"));
  const third = await svc(home.path, "plugin", "install", shout.folder, "--sha256", shout.hash);
  expect(third.stdout).toContain("an upgrade from 1.0.0");
  expect(await call("plugin_shout", "a".repeat(2000))).toMatchObject({ ok: false });
  expect(await call("plugin_shout", "a")).toEqual({ ok: true, output: "A" });

  expect(await svc(home.path, "plugin", "remove", "shout", "--yes")).toMatchObject({ code: 0 });
  const gone = await svc(home.path, "tools", "run", "plugin_shout", "--input", '{"input":"a"}');
  expect(gone).toMatchObject({ code: 1, stdout: expect.stringContaining("TOOL_UNKNOWN") });
  expect(await json(home.path, "plugin", "list")).toMatchObject({
    enabled: true,
    plugins: [{ name: "word_count" }],
    problems: [],
  });
  expect((await daemon.request("/health")).status).toBe(200);
  expect(daemon.output().match(/listening on/g)).toHaveLength(1);
});

test("what was changed by hand is left out by the next reload, and the rest runs on", async () => {
  using home = temporaryHome();
  const words = example("word-count", join(home.path, "word-count"));
  const shout = example("shout", join(home.path, "shout"));
  for (const { folder, hash } of [words, shout])
    await svc(home.path, "plugin", "install", folder, "--sha256", hash, "--yes");
  await using daemon = await startBinary({ binary, home: home.path });
  const installed = join(home.path, "plugins/shout");
  const release = readdirSync(installed).find((name) => name !== "approved.json")!;
  writeFileSync(join(installed, release, "plugin.wasm"), readFileSync(join(words.folder, "plugin.wasm")));
  expect((await svc(home.path, "reload")).code).toBe(0);
  expect(await json(home.path, "plugin", "list")).toMatchObject({
    plugins: [{ name: "word_count" }],
    problems: [{ folder: installed, code: "PLUGIN_CHANGED" }],
  });
  expect((await svc(home.path, "plugin", "info", "shout")).stderr).toContain("PLUGIN_CHANGED");
  const tools = (await json(home.path, "tools", "list")) as { tools: { name: string }[] };
  expect(tools.tools.map(({ name }) => name)).toContain("plugin_word_count");
  expect(tools.tools.map(({ name }) => name)).not.toContain("plugin_shout");
  expect(daemon.output()).toContain("a plugin is left out");
});

test("from a server of this machine, as tar makes the archive", async () => {
  using home = temporaryHome();
  const { folder, hash } = example("word-count", join(home.path, "word-count"));
  const archive = join(home.path, "word-count.tgz");
  execFileSync("tar", ["-czf", archive, "-C", folder, "plugin.toml", "plugin.wasm"]);
  const server = createServer((_, response) => response.end(readFileSync(archive)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/word-count.tgz`;
    const nobody = await svc(home.path, "plugin", "install", url);
    expect(nobody).toMatchObject({ code: 77, stderr: expect.stringContaining("--sha256 <hash>") });
    expect(nobody.stdout).toContain(hash);
    expect(await svc(home.path, "plugin", "install", url, "--sha256", "0".repeat(64))).toMatchObject({ code: 65 });
    expect(await json(home.path, "plugin", "list")).toMatchObject({ plugins: [], problems: [] });
    expect(await json(home.path, "plugin", "install", url, "--sha256", hash)).toMatchObject({
      changed: true,
      enabled: false,
    });
    expect(await json(home.path, "plugin", "info", "word_count")).toMatchObject({ source: url, running: "off" });
  } finally {
    server.close();
  }
});

test("over https: what no certificate vouches for is not fetched, and why is said", async () => {
  using home = temporaryHome();
  const { folder, hash } = example("shout", join(home.path, "shout"));
  const at = (name: string): string => join(home.path, name);
  execFileSync("tar", ["-czf", at("shout.tgz"), "-C", folder, "plugin.toml", "plugin.wasm"]);
  const made = selfSigned("elsewhere.test", ["127.0.0.1"]);
  writeFileSync(at("cert.pem"), made.cert);
  const asked: string[] = [];
  const server = createTlsServer(made, (request, response) => {
    asked.push(request.url ?? "");
    response.end(readFileSync(at("shout.tgz")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const install = (host: string, env: Record<string, string> = {}): Promise<RunResult> =>
    runBinary(["plugin", "install", `https://${host}:${port}/shout.tgz`, "--sha256", hash], {
      home: home.path,
      binary,
      env,
    });
  try {
    const strange = await install("127.0.0.1");
    expect(strange).toMatchObject({ code: 69, stderr: expect.stringContaining("certificate is not trusted") });
    const trusted = { NODE_EXTRA_CA_CERTS: at("cert.pem") };
    expect(await install("localhost", trusted), "a certificate of another name").toMatchObject({ code: 69 });
    expect(asked).toEqual([]);
    expect(await install("127.0.0.1", trusted)).toMatchObject({ code: 0 });
    expect(asked).toEqual(["/shout.tgz"]);
  } finally {
    server.close();
  }
});

test("kill -9 in the middle of installs: the next one goes on as if nothing had been", async () => {
  using home = temporaryHome();
  const { folder, hash } = example("word-count", join(home.path, "word-count"));
  const startMs = performance.now();
  await svc(home.path, "plugin", "install", folder, "--sha256", hash, "--yes");
  const tookMs = performance.now() - startMs;
  const toml = readFileSync(join(folder, "plugin.toml"), "utf8");
  for (let kill = 1; kill <= 8; kill += 1) {
    writeFileSync(join(folder, "plugin.toml"), toml.replace("1.0.0", `1.0.${kill}`));
    const child = spawnBinary(binary, ["plugin", "install", folder, "--sha256", hash, "--yes"], home.path);
    const ended = new Promise((resolve) => child.once("close", resolve));
    // From its beginning to its end, an eighth later each time.
    const timer = setTimeout(() => child.kill("SIGKILL"), (tookMs * kill) / 8);
    await ended;
    clearTimeout(timer);
    const { plugins, problems } = (await json(home.path, "plugin", "list")) as {
      plugins: { version: string }[];
      problems: unknown[];
    };
    expect(problems).toEqual([]);
    expect(plugins).toHaveLength(1);
    expect(Number(plugins[0]!.version.split(".")[2])).toBeLessThanOrEqual(kill);
  }
  // Whatever was left goes with the next change, of another plugin too.
  const other = example("shout", join(home.path, "shout"));
  expect(await svc(home.path, "plugin", "install", other.folder, "--sha256", other.hash)).toMatchObject({ code: 0 });
  expect(readdirSync(join(home.path, "plugins")).toSorted()).toEqual([".lock", "shout", "word_count"]);
  expect(readdirSync(join(home.path, "plugins/word_count"))).toHaveLength(2);
});

test("plugins are not kept where the agents write", async () => {
  using home = temporaryHome();
  const { folder, hash } = example("shout", join(home.path, "shout"));
  await svc(home.path, "plugin", "list");
  await svc(home.path, "config", "set", "plugins.plugins_dir", "workspace/plugins");
  expect(await svc(home.path, "plugin", "install", folder, "--sha256", hash, "--yes")).toMatchObject({ code: 78 });
  rmSync(folder, { recursive: true });
});

function change(folder: string, edit: (toml: string) => string): void {
  const file = join(folder, "plugin.toml");
  writeFileSync(file, edit(readFileSync(file, "utf8")));
}
