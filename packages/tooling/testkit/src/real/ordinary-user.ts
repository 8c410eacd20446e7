/** A daemon of an ordinary user's, beside the tests of root: with an account and a home that are there for it alone. */
import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const ID = 4321;

/** Runs a script with Node as that user; resolves with what it printed. Needs root. */
export async function runAsOrdinaryUser(script: string): Promise<string> {
  const folder = mkdtempSync("/var/tmp/svc-account-");
  try {
    chmodSync(folder, 0o755);
    const home = join(folder, "home");
    mkdirSync(home, { mode: 0o700 });
    chownSync(home, ID, ID);
    const accounts = join(folder, "passwd");
    writeFileSync(accounts, `${readFileSync("/etc/passwd", "utf8")}svc-test:x:${ID}:${ID}::${home}:/bin/sh\n`);
    const user = [`--reuid=${ID}`, `--regid=${ID}`, "--clear-groups", "--"];
    const words = ["setpriv", ...user, process.execPath, script];
    const start = ["/bin/sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', accounts, ...words];
    const { stdout } = await promisify(execFile)("unshare", ["--mount", ...start], {
      env: { PATH: process.env["PATH"], HOME: home },
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
