/** Files that the guide shows: each is checked by the program that would read it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { requireReal } from "@svc/testkit/require-real";
import { selfSigned } from "@svc/testkit/self-signed";
import type { TestContext } from "vitest";

interface CheckedFile {
  /** For files of the check. */
  readonly folder: string;
  readonly context: TestContext;
}

/** Resolves with what the program has against it. */
type FileCheck = (text: string, place: CheckedFile) => string | undefined | Promise<string | undefined>;

/** By the language of the block. */
export const CONFIG_FILES: Readonly<Record<string, FileCheck>> = {
  async toml(text, { folder }) {
    const home = mkdtempSync(join(folder, "toml-"));
    const file = join(home, "config.toml");
    writeFileSync(file, text, { mode: 0o600 });
    const { code, stdout, stderr } = await runBinary(["config", "check", "--config", file], {
      home,
      // A page may be about any feature.
      binary: fullestBinaryPath(),
    });
    return code === 0 ? undefined : stdout + stderr;
  },

  caddyfile(text, { folder, context }) {
    const file = join(mkdtempSync(join(folder, "caddy-")), "Caddyfile");
    writeFileSync(file, text);
    return judge(context, "caddy", ["validate", "--adapter", "caddyfile", "--config", file]);
  },

  nginx(text, { folder, context }) {
    const home = mkdtempSync(join(folder, "nginx-"));
    // A socket of its own: the check opens what it is to listen on.
    let sockets = 0;
    const site = text
      .replace(/\/etc\/letsencrypt\/live\/[^/]+/g, home)
      .replace(/listen (?:\[::\]:)?\d+/g, () => `listen unix:${home}/${(sockets += 1)}.sock`);
    const file = join(home, "nginx.conf");
    mkdirSync(join(home, "logs"));
    const own = TEMPORARY.map((name) => `${name}_temp_path ${home}/${name};`).join("\n");
    writeFileSync(file, `pid ${home}/pid;\nevents {}\nhttp {\naccess_log off;\n${own}\n${site}\n}\n`);
    // nginx reads the certificates that a config names.
    const { key, cert } = selfSigned("localhost");
    writeFileSync(join(home, "privkey.pem"), key);
    writeFileSync(join(home, "fullchain.pem"), cert);
    return judge(context, "nginx", ["-t", "-p", home, "-c", file]);
  },

  yaml(text, { folder, context }) {
    const file = join(mkdtempSync(join(folder, "tunnel-")), "config.yml");
    writeFileSync(file, text);
    return judge(context, "cloudflared", ["tunnel", "--config", file, "ingress", "validate"]);
  },
};

/** nginx makes a folder for each, below a place of the system that only root may write. */
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

export const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;

function judge(context: TestContext, program: string, args: readonly string[]): string | undefined {
  if (!isInstalled(program)) requireReal(context, { name: program, reason: `${program} is not on PATH`, tier: "B" });
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  return status === 0 ? undefined : stdout + stderr;
}
