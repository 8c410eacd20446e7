// What a small machine lacks, and what an install that failed is told as.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isConnectionFailure, isDroppedConnection } from "../install.mjs";
import { libatomicPackage, provideLibatomic } from "../libatomic.mjs";

const machine = {
  platform: "linux",
  arch: "x64",
  glibc: true,
  ldconfig: () => "",
  exists: (_path: string) => false,
  osRelease: "ID=debian\n",
  searchPath: [] as string[],
  root: false,
};

describe("libatomic", () => {
  const provided = (given: Partial<typeof machine>) => {
    const checkout = mkdtempSync(join(tmpdir(), "svc-libatomic-"));
    const env: NodeJS.ProcessEnv = {};
    onTestFinished(() => rmSync(checkout, { recursive: true }));
    provideLibatomic(checkout, { machine: { ...machine, ...given }, env });
    return { env, file: join(checkout, "dist/.lib/libatomic.so.1") };
  };

  test.each(["x64", "arm64"])("missing on %s: children find one of our own, before what the person set", (arch) => {
    const { env, file } = provided({ arch, searchPath: ["/opt/lib"] });
    expect(env).toEqual({ LD_LIBRARY_PATH: `${join(file, "..")}:/opt/lib` });
    expect(readFileSync(file).subarray(0, 4)).toEqual(Buffer.from("\x7fELF"));
  });

  test("missing where there is no code for it: exit code 69, the package and the command", () => {
    expect(() => provided({ arch: "s390x" })).toThrow(
      expect.objectContaining({ exitCode: 69, message: expect.stringContaining("sudo apt-get install -y libatomic1") }),
    );
  });

  test("found by ldconfig, in a known directory, or in LD_LIBRARY_PATH: nothing is added", () => {
    const ldconfig = () => "\tlibatomic.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libatomic.so.1";
    const known = (path: string) => path === "/usr/lib/aarch64-linux-gnu/libatomic.so.1";
    const own = (path: string) => path === "/opt/lib/libatomic.so.1";
    expect(provided({ ldconfig }).env).toEqual({});
    expect(provided({ exists: known }).env).toEqual({});
    expect(provided({ exists: own, searchPath: ["/opt/lib"] }).env).toEqual({});
  });

  test("a system without glibc is told so, instead of a library that would not help", () => {
    expect(() => provided({ glibc: false })).toThrow(/glibc 2\.28/u);
  });

  test("other systems need nothing", () => {
    expect(provided({ platform: "darwin", glibc: false }).env).toEqual({});
  });

  test.each([
    ['ID=ubuntu\nID_LIKE="debian"', "libatomic1", "apt-get install -y libatomic1"],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"', "libatomic", "dnf install -y libatomic"],
    ["ID=opensuse-leap\nID_LIKE='x'\nID_LIKE=\"suse opensuse\"", "libatomic1", "zypper install -y libatomic1"],
    ["ID=arch", "gcc-libs", "pacman -S --noconfirm gcc-libs"],
  ])("%j", (osRelease, name, command) => {
    expect(libatomicPackage(osRelease, true)).toEqual({ name, command });
  });
});

describe("a failed install", () => {
  test.each([
    ["GET failed: ECONNRESET", true, true],
    ["npm error code EAI_AGAIN", true, true],
    ["ERR_PNPM_META_FETCH_FAIL error sending request: connection closed before message completed", true, true],
    ["connect ECONNREFUSED 127.0.0.1:9", true, false],
    ["error sending request: client error (Connect): dns error", true, false],
    ["Error: ERR_PNPM_LOCKFILE_CONFIG_MISMATCH", false, false],
    ['ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"', false, false],
  ])("%s: the network %s, tried again %s", (output, network, again) => {
    expect([isConnectionFailure(output), isDroppedConnection(output)]).toEqual([network, again]);
  });
});
