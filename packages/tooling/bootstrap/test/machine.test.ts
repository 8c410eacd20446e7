// Node 26 on a small image died with "error while loading shared libraries: libatomic.so.1" in the middle of a build;
// the person must get the package's name and the command before anything starts.
import { describe, expect, test } from "vitest";
import { isConnectionFailure, isDroppedConnection } from "../install.mjs";
import { libatomicPackage, requireLibatomic } from "../libatomic.mjs";

const machine = {
  platform: "linux",
  glibc: true,
  ldconfig: () => "",
  exists: (_path: string) => false,
  osRelease: "ID=debian\n",
  searchPath: [] as string[],
  root: false,
};

describe("libatomic", () => {
  test("missing: exit code 69, the package and the command", () => {
    expect(() => requireLibatomic(machine)).toThrow(
      expect.objectContaining({ exitCode: 69, message: expect.stringContaining("sudo apt-get install -y libatomic1") }),
    );
  });

  test("found by ldconfig, in a known directory, or in LD_LIBRARY_PATH", () => {
    const ldconfig = () => "\tlibatomic.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libatomic.so.1";
    const known = (path: string) => path === "/usr/lib/aarch64-linux-gnu/libatomic.so.1";
    const own = (path: string) => path === "/opt/lib/libatomic.so.1";
    expect(() => requireLibatomic({ ...machine, ldconfig })).not.toThrow();
    expect(() => requireLibatomic({ ...machine, exists: known })).not.toThrow();
    expect(() => requireLibatomic({ ...machine, exists: own, searchPath: ["/opt/lib"] })).not.toThrow();
  });

  test("a system without glibc is told so, instead of a library that would not help", () => {
    expect(() => requireLibatomic({ ...machine, glibc: false })).toThrow(/glibc 2\.28/u);
  });

  test("other systems need nothing", () => {
    expect(() => requireLibatomic({ ...machine, platform: "darwin", glibc: false })).not.toThrow();
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
