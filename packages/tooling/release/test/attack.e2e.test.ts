// An artefact that holds another binary than the one that was tested. What each installs is attacked by `npm run attack:artefacts`; here
// one short attack shows that it runs against what was installed, and that a list of attacks names files that exist.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { expect, test } from "vitest";
import { ATTACK_FILES } from "../src/attack-files.ts";

const root = join(import.meta.dirname, "../../../..");
const run = (...words: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "../src/attack.ts"), ...words], { encoding: "utf8" });

test("the list names each test of abuse and of races, and only files that exist", () => {
  const listed = Object.values(ATTACK_FILES).flat();
  expect(listed.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  const attacks = readdirSync(join(root, "apps/svc/test")).filter((name) =>
    /^(?:abuse|races|file-).*\.test\.ts$/.test(name),
  );
  expect(attacks.filter((name) => !listed.includes(`apps/svc/test/${name}`))).toEqual([]);
});

test("an attack runs against the installed binary, which is the built one", () => {
  const { status, stdout, stderr } = run("--only", "npm", "--file", "apps/svc/test/inspector.test.ts", "--json");
  expect([status, stderr]).toEqual([0, expect.stringMatching(/against \S+\/package\/bin\/svc and /)]);
  const sha256 = createHash("sha256").update(readFileSync(binaryPath())).digest("hex");
  expect(JSON.parse(stdout)).toEqual([
    { artefact: "npm", sha256, passed: expect.any(Number), failed: [], skipped: expect.any(Number) },
  ]);
  expect((JSON.parse(stdout) as { passed: number }[])[0]!.passed).toBeGreaterThan(0);
});

test("wrong arguments are refused", () => {
  expect(run("--only", "exe")).toMatchObject({ status: 64, stderr: expect.stringContaining("deb, npm, sh") });
  expect(run("--list").stdout).toContain("apps/svc/test/file-races.test.ts\n");
});
