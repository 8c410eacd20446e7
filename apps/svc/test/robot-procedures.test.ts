// A procedure whose step can drive and not stop is told with its file and line, and never runs, in the whole binary.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";

const binary = fullestBinaryPath();

test("a step that can drive and not stop is refused at its line", async () => {
  using home = temporaryHome();
  writeFileSync(join(home.path, "config.toml"), '[safety]\ndrive = { backend = "simulated" }\n', { mode: 0o600 });
  const folder = join(home.path, "workspace", "sops", "tour");
  mkdirSync(folder, { recursive: true });
  const toml = '[sop]\n[[triggers]]\ntype = "manual"\n';
  writeFileSync(join(folder, "SOP.toml"), toml);
  const write = (tools: string): void =>
    writeFileSync(join(folder, "SOP.md"), `## Steps\n\n1. **Go** — there\n   - tools: ${tools}\n`);
  write("drive");
  const svc = (...args: readonly string[]) => runBinary(args, { home: home.path, binary });
  const offline = await svc("sop", "validate");
  expect(offline.code).not.toBe(0);
  expect(`${offline.stdout}${offline.stderr}`).toMatch(/SOP\.md:3.*a step that has drive needs stop too/);
  await using _daemon = await startBinary({ home: home.path, binary });
  const refused = await svc("sop", "run", "tour");
  expect(refused.code).not.toBe(0);
  expect((await svc("sop", "runs", "--json")).stdout).not.toContain("tour");
  write("drive, stop");
  expect((await svc("sop", "validate")).code).toBe(0);
});
