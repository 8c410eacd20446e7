/** Files that the guide shows: each is checked by the program that would read it. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binaryPath, requireReal, runBinary } from "@svc/testkit";
import { expect, type TestContext } from "vitest";

interface Surroundings {
  /** For files of the check. */
  readonly folder: string;
  readonly context: TestContext;
}

type FileCheck = (text: string, surroundings: Surroundings) => void | Promise<void>;

/** By the language of the block. */
export const CONFIG_FILES: Readonly<Record<string, FileCheck>> = {
  async toml(text, { folder }) {
    const home = mkdtempSync(join(folder, "toml-"));
    const file = join(home, "config.toml");
    writeFileSync(file, text, { mode: 0o600 });
    const { code, stdout, stderr } = await runBinary(["config", "check", "--config", file], {
      home,
      binary: binaryPath(),
    });
    expect(code, stdout + stderr).toBe(0);
  },

  caddyfile(text, { folder, context }) {
    const file = join(mkdtempSync(join(folder, "caddy-")), "Caddyfile");
    writeFileSync(file, text);
    check(context, "caddy", ["validate", "--adapter", "caddyfile", "--config", file]);
  },

  nginx(text, { folder, context }) {
    const home = mkdtempSync(join(folder, "nginx-"));
    const site = text
      .replace(/\/etc\/letsencrypt\/live\/[^/]+/g, home)
      .replace(/listen (?:\[::\]:)?\d+/g, "listen 127.0.0.1:0");
    const file = join(home, "nginx.conf");
    mkdirSync(join(home, "logs"));
    writeFileSync(file, `pid ${home}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${site}\n}\n`);
    if (isInstalled("nginx")) selfSigned(home);
    check(context, "nginx", ["-t", "-p", home, "-c", file]);
  },

  yaml(text, { folder, context }) {
    const file = join(mkdtempSync(join(folder, "tunnel-")), "config.yml");
    writeFileSync(file, text);
    check(context, "cloudflared", ["tunnel", "--config", file, "ingress", "validate"]);
  },
};

const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;

function check(context: TestContext, program: string, args: readonly string[]): void {
  if (!isInstalled(program)) requireReal(context, { name: program, reason: `${program} is not on PATH`, tier: "B" });
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
}

/** nginx reads the certificates that a config names. */
function selfSigned(folder: string): void {
  const files = ["-keyout", join(folder, "privkey.pem"), "-out", join(folder, "fullchain.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=localhost", ...files], {
    stdio: "pipe",
  });
}
