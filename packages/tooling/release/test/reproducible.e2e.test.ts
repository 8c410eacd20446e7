// Whoever doubts a release builds it again and compares: every artefact of the same builds must be the same bytes, made in another folder,
// at another time, under another umask, time zone and temporary folder.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findProgram } from "@svc/kit/process";
import { requireReal } from "@svc/testkit/require-real";
import { makeKeyPair } from "../src/signing.ts";
import { built } from "./release-fixture.ts";

const work = mkdtempSync(join(tmpdir(), "svc-reproducible-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** A process of its own, since the umask is of a process. */
const script = `
import { readFileSync } from "node:fs";
import { readBuild } from ${JSON.stringify(join(import.meta.dirname, "../src/builds.ts"))};
import { KINDS, makeRelease } from ${JSON.stringify(join(import.meta.dirname, "../src/release.ts"))};
import { parseSecretKey } from ${JSON.stringify(join(import.meta.dirname, "../src/signing.ts"))};
const [builds, out, key, umask] = process.argv.slice(2);
process.umask(Number(umask));
const build = readBuild(builds);
await makeRelease({
  builds: [build, { ...build, target: "win32-x64", name: "svc.exe" }],
  out, kinds: KINDS, mainProfile: "minimal", keys: [], note() {},
  url: "https://releases.invalid/svc", latest: "https://releases.invalid/svc", signing: parseSecretKey(readFileSync(key, "utf8")),
});
`;

async function release(
  name: string,
  umask: number,
  time: Date,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const builds = join(work, name, "builds");
  mkdirSync(builds, { recursive: true });
  mkdirSync(join(work, name, "tmp"));
  // Packages hold whatever the binary is: this one is small, and answers as the real one.
  cpSync(join(dirname(built().file), "build.json"), join(builds, "build.json"));
  writeFileSync(join(builds, built().name), `#!/bin/sh\nexec '${built().file}' "$@"\n`, { mode: 0o755 });
  for (const file of readdirSync(builds)) utimesSync(join(builds, file), time, time);
  const out = join(work, name, "release");
  const args = [join(work, "make.ts"), builds, out, join(work, "key"), String(umask)];
  const child = spawn(process.execPath, args, {
    cwd: join(work, name),
    env: { PATH: process.env["PATH"], HOME: work, TMPDIR: join(work, name, "tmp"), ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  return out;
}

const hashes = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => {
        const file = join(parentPath, name);
        return [file.slice(folder.length + 1), createHash("sha256").update(readFileSync(file)).digest("hex")];
      }),
  );

test("each artefact is the same to the byte", async (context) => {
  for (const name of ["dpkg-deb", "rpmbuild", "npm"]) {
    if ((await findProgram(name)) === undefined)
      requireReal(context, { name, reason: "it is not installed", tier: "B" });
  }
  writeFileSync(join(work, "make.ts"), script);
  writeFileSync(join(work, "key"), makeKeyPair().secretKey);
  const one = await release("one", 0o022, new Date("2026-01-01"), { TZ: "UTC", LANG: "C.UTF-8" });
  const two = await release("another folder", 0o077, new Date("2001-01-01"), { TZ: "Asia/Tokyo", LANG: "C" });
  const [first, second] = [hashes(one), hashes(two)];
  expect(second).toEqual(first);
  expect(Object.keys(first).map((name) => name.replace(/[0-9.]+(?=-minimal)|\d+\.\d+\.\d+/, "V"))).toEqual(
    expect.arrayContaining([
      "release.json",
      "SHA256SUMS.minisig",
      "install.sh",
      "svc.rb",
      "Svc.Svc.installer.yaml",
      expect.stringMatching(/\.deb$/),
      expect.stringMatching(/\.rpm$/),
      expect.stringMatching(/^svc-gateway-.*\.tgz$/),
      expect.stringMatching(/^container-.*\/svc$/),
    ]),
  );
  // Nothing of this machine is in the records of the packages either.
  const rpm = Object.keys(first).find((name) => name.endsWith(".rpm"))!;
  const record = execFileSync(
    "rpm",
    ["--query", "--queryformat", "%{BUILDTIME} %{BUILDHOST} [%{FILENAMES} ]", join(one, rpm)],
    {
      encoding: "utf8",
    },
  );
  expect(record).toMatch(/^0 localhost \/usr\/bin\/svc /);
  expect(record).not.toContain(".build-id");
});
