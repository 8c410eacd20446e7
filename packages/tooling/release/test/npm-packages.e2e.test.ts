// npm installs a shim and the binary of this platform alone. Both come from a registry on loopback, into an empty home.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { makeNpmPackages, NPM_NAME } from "../src/npm-packages.ts";
import { built, type FileServer, serve, useForOneTurn } from "./release-fixture.ts";

const root = mkdtempSync(join(tmpdir(), "svc-npm-"));
const target = `${process.platform}-${process.arch}`;
const packages = join(root, "packages");
const asked: string[] = [];
let registry: FileServer;
let places = 0;

beforeAll(async () => {
  mkdirSync(packages);
  const build = built();
  // Another platform's: npm must leave it alone.
  const foreign = { ...build, target: "aix-ppc64", file: join(import.meta.dirname, "release-fixture.ts") };
  await makeNpmPackages([build, foreign], packages);
  registry = await serve(answer);
}, 180_000);
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

function answer(path: string, url: string): string | Buffer | undefined {
  asked.push(path);
  const { version } = built();
  const name = path.slice(1);
  if (name.endsWith(".tgz")) return readFileSync(join(packages, name));
  const file = `${name}-${version}.tgz`;
  if (!readdirSync(packages).includes(file)) return undefined;
  const tarball = readFileSync(join(packages, file));
  const platforms = [target, "aix-ppc64"].map((each) => `${NPM_NAME}-${each}`);
  const [os, cpu] = name.slice(NPM_NAME.length + 1).split("-");
  const manifest = {
    name,
    version,
    ...(name === NPM_NAME
      ? {
          bin: { svc: "bin/svc.cjs", [NPM_NAME]: "bin/svc.cjs" },
          optionalDependencies: Object.fromEntries(platforms.map((each) => [each, version])),
        }
      : { os: [os], cpu: [cpu] }),
    dist: { tarball: `${url}/${file}`, integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}` },
  };
  return JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: manifest } });
}

async function run(
  program: string,
  words: readonly string[],
): Promise<{ code: number | null; text: string; home: string }> {
  const home = join(root, `home-${++places}`);
  mkdirSync(home);
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    npm_config_registry: registry.url,
    npm_config_audit: "false",
    npm_config_fund: "false",
  };
  const child = spawn(program, words, { env, cwd: home });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, text, home };
}

test("npm install -g installs this platform's binary, which answers a turn and passes on exit codes", async () => {
  const prefix = join(root, "prefix");
  const done = await run("npm", ["install", "--global", "--prefix", prefix, NPM_NAME]);
  expect([done.code, done.text]).toEqual([0, expect.any(String)]);
  expect(readdirSync(join(prefix, "lib/node_modules", NPM_NAME, "node_modules"))).toEqual(
    expect.arrayContaining([`${NPM_NAME}-${target}`]),
  );
  expect(asked.filter((path) => path.includes("aix") && path.endsWith(".tgz"))).toEqual([]);
  const binary = join(prefix, "bin/svc");
  await useForOneTurn(binary);
  expect(await runBinary(["no-such-command"], { home: root, binary })).toMatchObject({ code: 64 });
  const { stderr } = await runBinary(["update"], { home: root, binary });
  expect(stderr).toContain(`npm install -g ${NPM_NAME}`);
});

test("npx runs it without an installation", async () => {
  const done = await run("npx", ["--yes", NPM_NAME, "--version"]);
  expect([done.code, done.text]).toEqual([0, expect.stringContaining(`svc ${built().version}`)]);
});

test("without this platform's package it says which one is missing", async () => {
  const done = await run("npx", ["--yes", "--omit=optional", NPM_NAME, "--version"]);
  expect([done.code, done.text]).toEqual([69, expect.stringContaining(`${NPM_NAME}-${target} is not installed`)]);
});
