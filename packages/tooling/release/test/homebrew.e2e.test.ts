// Homebrew itself runs on no machine of ours. Ruby does: the formula is read as Homebrew reads it, and installs the release's own file,
// which answers a turn.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { findProgram } from "@svc/kit/process";
import type { ReleaseManifest } from "@svc/kit/releases";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { requireReal } from "@svc/testkit/require-real";
import { packBuild } from "../src/builds.ts";
import { homebrewFormula } from "../src/package-manifests.ts";
import { built, useForOneTurn } from "./release-fixture.ts";

const work = mkdtempSync(join(tmpdir(), "svc-homebrew-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));
beforeEach(async (context) => {
  if ((await findProgram("ruby")) === undefined)
    requireReal(context, { name: "ruby", reason: "apt-get install ruby", tier: "B" });
});

interface Formula {
  readonly url?: string;
  readonly sha256?: string;
}

const read = (formula: string, ...words: string[]): Formula =>
  JSON.parse(
    execFileSync("ruby", [join(import.meta.dirname, "homebrew.rb"), formula, ...words], { encoding: "utf8" }),
  ) as Formula;

test("each system gets its own file, and one without a build gets none", () => {
  const build = (target: string, digit: string) => ({
    profile: "minimal",
    target,
    file: `svc-1.2.3-minimal-${target}.gz`,
    bytes: 1,
    sha256: digit.repeat(64),
    binary: { bytes: 1, sha256: "f".repeat(64) },
  });
  const builds = [build("linux-x64", "1"), build("linux-arm64", "2"), build("darwin-arm64", "3")];
  const manifest: ReleaseManifest = { format: 1, version: "1.2.3", commit: "abc1234", schema_version: 1, builds };
  const file = join(work, "all.rb");
  writeFileSync(file, homebrewFormula(manifest, "minimal", "https://example.org/1.2.3")!);
  expect(execFileSync("ruby", ["-wc", file], { encoding: "utf8" })).toBe("Syntax OK\n");
  const of = (os: string, cpu: string) => {
    const { url, sha256 } = read(file, os, cpu);
    return [url?.split("-minimal-")[1], sha256?.[0]];
  };
  expect([of("linux", "intel"), of("linux", "arm"), of("macos", "arm"), of("macos", "intel")]).toEqual([
    ["linux-x64.gz", "1"],
    ["linux-arm64.gz", "2"],
    ["darwin-arm64.gz", "3"],
    [undefined, undefined],
  ]);
});

test("what it installs answers a turn, and leaves updates to brew", async () => {
  const build = built();
  const packed = await packBuild(build, work, "fast");
  const { version, commit } = build;
  const manifest: ReleaseManifest = { format: 1, version, commit, schema_version: 1, builds: [packed] };
  const file = join(work, "svc.rb");
  writeFileSync(file, homebrewFormula(manifest, "minimal", "https://example.org/svc")!);
  const prefix = join(work, "prefix");
  const [os, cpu] = [process.platform === "darwin" ? "macos" : "linux", process.arch === "arm64" ? "arm" : "intel"];
  expect(read(file, os, cpu, prefix, join(work, packed.file))).toMatchObject({
    url: `https://example.org/svc/${packed.file}`,
    sha256: packed.sha256,
    version,
    service: ["/opt/bin/svc", "daemon"],
    tested: expect.stringContaining(version),
    completions: { bash: expect.any(Number), zsh: expect.any(Number), fish: expect.any(Number) },
  });
  expect(readFileSync(join(prefix, "libexec/svc.managed-by"), "utf8")).toBe("brew upgrade svc\n");
  const binary = join(prefix, "bin/svc");
  await useForOneTurn(binary);
  const { code, stderr } = await runBinary(["update"], { home: work, binary });
  expect([code, stderr]).toEqual([64, expect.stringContaining("brew upgrade svc")]);
});
