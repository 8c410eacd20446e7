// A person with nothing but the binary: start, paste two lines, get an answer. And the same home again.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import type { SandboxState } from "../src/service/sandbox-state.ts";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { post } from "./daemon.ts";

const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);

describe("the first run", () => {
  test("writes a config, prints a code and two lines that work as they are pasted", async (context) => {
    if (spawnSync("curl", ["--version"]).status !== 0)
      requireReal(context, { name: "curl", reason: "curl is not on PATH; apt-get install curl" });
    await using daemon = await startBinary();
    await daemon.waitFor(/curl -fsS \S+\/webhook.*\n/);
    const lines = daemon.output().split("\n");
    expect(lines.filter((line) => line.includes("pairing code") && /\b\d{6}\b/.test(line))).toHaveLength(1);
    expect(lines.some((line) => line.startsWith("sandbox: "))).toBe(true);
    const pasted = lines.filter((line) => line.includes("curl")).map((line) => line.trim());
    expect(pasted).toHaveLength(2);
    const answer = JSON.parse(execFileSync("/bin/sh", ["-c", pasted.join("\n")], { encoding: "utf8" })) as {
      response: string;
    };
    expect(answer.response).toContain("hello");
  });

  test("of a build with passkeys offers them, and the sandbox in force is told the same everywhere", async () => {
    const binary = fullestBinaryPath();
    await using daemon = await startBinary({ binary });
    await daemon.waitFor(/pairing code/);
    expect(daemon.output()).toMatch(/^passkeys: offered at http:\/\/localhost:\d+\/$/m);
    const token = await daemon.pair();
    const read = async (path: string) => (await daemon.request(path, { token })).json();
    expect(await read("/api/session/ways")).toMatchObject({ features: ["webauthn"] });
    const { sandbox } = (await read("/api/status")) as { sandbox: SandboxState };
    const { sandbox: listed, features } = (await read("/api/features")) as {
      sandbox: SandboxState;
      features: { id: string; kind: string; included: boolean; state: string }[];
    };
    expect(listed).toEqual(sandbox);
    const running = features.filter(({ kind, state }) => kind === "sandbox" && state === "running").map(({ id }) => id);
    expect(running).toEqual(sandbox.confined ? [`sandbox-${sandbox.effective}`] : []);
    const status = JSON.parse((await runBinary(["status", "--json"], { binary, home: daemon.home })).stdout);
    expect(status.sandbox).toEqual(sandbox);
    const doctor = await runBinary(["doctor", "--json"], { binary, home: daemon.home });
    expect(doctor.stdout).toContain(sandbox.summary);
    expect(daemon.output()).toContain(`sandbox: ${sandbox.effective}`);
  });

  test("of the minimal build without any sandbox names the one command that adds one", async () => {
    // Neither firejail nor podman is found.
    await using daemon = await startBinary({ env: { PATH: "/nowhere" } });
    expect(daemon.output()).toMatch(
      process.platform === "linux"
        ? /^sandbox: none\..* To confine commands: npx pnpm build minimal --with sandbox-fsrestrict$/m
        : /^sandbox: /m,
    );
    expect(daemon.output()).not.toContain("passkeys:");
  });

  test("everything it writes is its owner's alone", async () => {
    await using daemon = await startBinary();
    for (const [file, expected] of [
      [".", "700"],
      ["config.toml", "600"],
      ["workspace", "700"],
      ["run", "700"],
      ["run/control.sock", "600"],
      ["state", "700"],
      ["state/svc.db", "600"],
    ] as const) {
      expect([file, mode(join(daemon.home, file))]).toEqual([file, expected]);
    }
  });

  test("the second start finds the config, and prints no code to whoever looks once a device is paired", async () => {
    using home = temporaryHome();
    const first = await startBinary({ home: home.path });
    const token = await first.pair();
    const config = readFileSync(join(home.path, "config.toml"), "utf8");
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    await using second = await startBinary({ home: home.path });
    expect((await post(second, token, "still me")).status).toBe(200);
    expect(second.output()).not.toMatch(/first run|pairing code/);
    expect(readFileSync(join(home.path, "config.toml"), "utf8")).toBe(config);
  });

  test("a code works once; a wrong one is refused; the answer has no more than it should", async () => {
    await using daemon = await startBinary();
    const code = (await daemon.waitFor(/pairing code\D*(\d{6})/))[1]!;
    const wrong = await daemon.request("/pair", {
      method: "POST",
      headers: { "X-Pairing-Code": code === "000000" ? "000001" : "000000" },
    });
    expect([wrong.status, ((await wrong.json()) as { code: string }).code]).toEqual([403, "BAD_PAIRING_CODE"]);
    const paired = await daemon.request("/pair", {
      method: "POST",
      headers: { "X-Pairing-Code": code },
      body: { device_name: "laptop" },
    });
    expect(await paired.json()).toEqual({ paired: true, token: expect.stringMatching(/^svc_[0-9a-f]{64}$/) });
    const again = await daemon.request("/pair", { method: "POST", headers: { "X-Pairing-Code": code } });
    expect(again.status).toBe(403);
  });
});

describe("the binary alone", () => {
  test("runs from an empty folder with an empty environment, and NODE_OPTIONS runs nothing inside it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-alone-"));
    const binary = join(folder, "svc");
    cpSync(binaryPath(), binary);
    const run = (...words: string[]): string =>
      execFileSync("env", ["-i", ...words], { cwd: folder, encoding: "utf8" });
    expect(run(binary, "--version")).toMatch(/^svc \d+\.\d+\.\d+ \([0-9a-f]{7,}/);
    expect(run(`SVC_HOME=${folder}/home`, binary, "init", "--yes")).toContain("wrote");
    expect(run(`SVC_HOME=${folder}/home`, binary, "chat", "-m", "alone")).toContain("alone");
    expect(run("NODE_OPTIONS=--require=/nonexistent.cjs", binary, "--version")).toContain("svc");
    expect(readdirSync(folder).toSorted()).toEqual(["home", "svc"]);
    rmSync(folder, { recursive: true, force: true });
  });

  test("init --yes without answers leaves a config that is there as it is", async () => {
    using home = temporaryHome();
    expect((await runBinary(["init", "--yes"], { home: home.path })).code).toBe(0);
    const before = readFileSync(join(home.path, "config.toml"), "utf8");
    const again = await runBinary(["init", "--yes"], { home: home.path });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("nothing to change")]);
    expect(readFileSync(join(home.path, "config.toml"), "utf8")).toBe(before);
    expect(existsSync(join(home.path, "config.schema.json"))).toBe(true);
  });
});
