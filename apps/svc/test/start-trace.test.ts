// `svc daemon --trace-start` says what the start did, and starts all the same.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

interface Report {
  readonly total_ms: number;
  readonly cpu_ms: number;
  readonly listening: string;
  readonly phases: readonly { readonly name: string; readonly at_ms: number; readonly ms: number }[];
  readonly chunks: readonly { readonly name: string; readonly ms: number; readonly precompiled: boolean }[];
  readonly files: readonly { readonly path: string }[];
}

interface BuildRecord {
  readonly chunks: Readonly<Record<string, { readonly bytes: number; readonly packages: readonly string[] }>>;
}

const ENV = { SVC__GATEWAY__PORT: "0", SVC__SECURITY__SANDBOX__BACKEND: "none" };

const PHASES = [
  "runtime, command line",
  "code of the command",
  "config read",
  "features constructed",
  "home locked, database opened",
  "features registered",
  "procedures read",
  "agents made, interrupted work recovered",
  "secrets sealed",
  "gateway listening",
  "first requests answered",
  "control socket listening",
  "sandbox probed",
];

test("--json prints the phases, the loaded code and the opened files as one JSON text", async () => {
  using home = temporaryHome();
  const daemon = spawnBinary(binaryPath(), ["daemon", "--trace-start", "--json"], home.path, ENV);
  const exited = new Promise((resolve) => daemon.once("exit", resolve));
  let stdout = "";
  await new Promise<void>((resolve, reject) => {
    daemon.once("exit", () => reject(new Error(stdout)));
    daemon.stdout!.on("data", (chunk: Buffer) => {
      stdout += chunk;
      if (stdout.endsWith("}\n")) resolve();
    });
  });
  const report = JSON.parse(stdout) as Report;
  expect((await fetch(new URL("/health", report.listening))).status).toBe(200);
  daemon.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(JSON.parse(stdout)).toEqual(report);

  expect(report.phases.map(({ name }) => name)).toEqual(PHASES);
  expect(report.phases.map(({ at_ms }) => at_ms)).toEqual(
    report.phases.map(({ at_ms }) => at_ms).toSorted((a, b) => a - b),
  );
  expect(report.phases.at(-1)!.at_ms).toBe(report.total_ms);
  expect(report.cpu_ms).toBeGreaterThan(0);
  expect(report.files.map(({ path }) => path)).toContain(`${home.path}/config.toml`);
  expect(report.chunks.length).toBeGreaterThan(20);
  // Built for this machine, a start compiles nothing.
  expect(report.chunks.filter(({ precompiled }) => !precompiled)).toEqual([]);

  const { chunks } = JSON.parse(readFileSync(join(dirname(binaryPath()), "build.json"), "utf8")) as BuildRecord;
  const loaded = report.chunks.map(({ name }) => chunks[name]!);
  expect(loaded.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(1_340_000);
  // One import of it as a whole, by `import()` or as a value, would bring four times as much into every start.
  const ofSchemas = loaded.filter(({ packages }) => packages.includes("valibot"));
  expect(ofSchemas.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(50_000);
});

test("for a person it stands before the usual lines", async () => {
  await using daemon = await startBinary({ args: ["--trace-start"], env: ENV });
  expect(daemon.output()).toMatch(/^The start took \d+\.\d ms, \d+\.\d ms of the processor\.$/m);
  expect(daemon.output()).toMatch(/^home locked, database opened +\d+\.\d ms/m);
  expect(daemon.output()).toMatch(/chunks loaded, \d+ of them precompiled/);
  await daemon.waitFor(/pairing code/);
});

test("svc daemon --json alone is refused", async () => {
  using home = temporaryHome();
  const { code, stderr } = await runBinary(["daemon", "--json"], { home: home.path, env: ENV });
  expect([code, JSON.parse(stderr)]).toMatchObject([64, { code: "USAGE" }]);
});
