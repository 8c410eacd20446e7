// A fresh machine that is less fresh than it says lets tests pass that fail for a new contributor.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const BARE = join(import.meta.dirname, "../../../../.ci/bare");

const LOOK = `id -u; ls -A "$HOME"; git status --short
for program in node npm npx git perl setpriv; do command -v $program >/dev/null || echo "no $program"; done
for program in curl openssl ps python3 bwrap chromium nginx gcc; do command -v $program; done
env | cut -d= -f1 | grep -vE "^(npm_config_.*|.*_proxy|NODE_EXTRA_CA_CERTS)$" | sort | tr "\\n" " "; echo`;

test.skipIf(process.getuid?.() !== 0 || process.platform !== "linux")(
  "has a clone, an empty home and what the README asks for, and nothing else",
  { meta: { skipReason: "needs root of a Debian" } },
  () => {
    const env = { ...process.env, SVC_REQUIRE_REAL: "1", CI: "true" };
    const run = (...args: string[]) => spawnSync(BARE, args, { encoding: "utf8", env });
    const narrow = run("--path", "sh", "-c", LOOK);
    expect(narrow.stdout).toMatch(/^65534\nsvc\nHOME LANG PATH PWD TMPDIR \n/);
    const { status, stdout, stderr } = run("sh", "-c", `${LOOK}; ls /usr/bin/curl /usr/sbin/nginx; exit 3`);
    expect(stdout).toMatch(/^4321\nsvc\nHOME LANG PATH PWD USER \n/);
    expect(stdout).toContain("cannot access '/usr/bin/curl'");
    expect([status, stderr]).toEqual([3, ""]);
  },
);
