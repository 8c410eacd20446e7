// The procedure for the key in SECURITY.md: a secret key is made once, is never replaced, and signs nothing that installed binaries
// would refuse.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parsePublicKey } from "@svc/kit/releases";
import { parseSecretKey, publicLine } from "../src/signing.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-keys-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const release = (...words: string[]): { status: number | null; text: string } => {
  const { SVC_RELEASE_KEY: _none, ...env } = process.env;
  const cli = join(import.meta.dirname, "../src/cli.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], { env, encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
};

test("a pair of keys is made once, readable by its owner alone", () => {
  expect(release("--new-key", folder)).toMatchObject({ status: 0 });
  const secret = readFileSync(join(folder, "svc.key"), "utf8");
  expect(statSync(join(folder, "svc.key")).mode & 0o077).toBe(0);
  const line = publicLine(parseSecretKey(secret));
  expect(readFileSync(join(folder, "svc.pub"), "utf8").split("\n")[1]).toBe(line);
  expect(parsePublicKey(line).id).toHaveLength(16);
  expect(release("--new-key", folder)).toEqual({ status: 64, text: expect.stringContaining("is not replaced") });
  expect(readFileSync(join(folder, "svc.key"), "utf8")).toBe(secret);
});

test("a release is refused without a key, and with one that no binary trusts; no message has the key", () => {
  const url = ["--built", "--url", "https://example.org/svc"];
  expect(release(...url)).toEqual({ status: 64, text: expect.stringContaining("A release is signed") });
  const keyFile = join(folder, "svc.key");
  const refused = release(...url, "--key-file", keyFile);
  expect(refused).toEqual({ status: 64, text: expect.stringContaining("does not have the public key") });
  expect(refused.text).not.toContain(readFileSync(keyFile, "utf8").split("\n")[1]!.slice(80, 120));
});

test.each([
  ["--help", 0, "Examples"],
  ["--no-such-option", 64, "--help"],
  ["--dry-run --built --only tar", 64, "--only takes"],
  ["--dry-run --built --profile no-such-profile", 64, "holds no build"],
])("pnpm release %s", (words, status, text) => {
  expect(release(...words.split(" "))).toEqual({ status, text: expect.stringContaining(text) });
});
