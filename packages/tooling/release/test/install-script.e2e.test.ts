// install.sh runs on machines of which nothing is known: a bare PATH, an empty home, sh. It must install the signed binary there, and
// nothing when anything is wrong.
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findProgram } from "@svc/kit/process";
import { requireReal } from "@svc/testkit/require-real";
import { makeRelease } from "../src/release.ts";
import { makeKeyPair, parseSecretKey, publicLine } from "../src/signing.ts";
import { built, type FileServer, serveFolder, useForOneTurn } from "./release-fixture.ts";

const root = mkdtempSync(join(tmpdir(), "svc-install-"));
const release = join(root, "release");
const key = parseSecretKey(makeKeyPair().secretKey);
let server: FileServer;
let places = 0;

beforeAll(async () => {
  server = await serveFolder(release);
  const options = { url: server.url, latest: server.url, keys: [], mainProfile: "minimal", kinds: [], note: () => {} };
  await makeRelease({ ...options, builds: [built()], out: release, signing: key, compression: "fast" });
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

/** What each system has, busybox included. */
const BASE = "uname grep ldd mktemp mkdir sed head cut gzip chmod mv rm cat dd base64 cmp tr sha256sum".split(" ");

async function pathWith(...programs: string[]): Promise<string> {
  const folder = join(root, `bin-${++places}`);
  mkdirSync(folder);
  for (const name of [...BASE, ...programs]) {
    const file = await findProgram(name);
    if (file !== undefined) symlinkSync(file, join(folder, name));
  }
  return folder;
}

interface Ran {
  readonly code: number | null;
  readonly text: string;
  readonly home: string;
}

async function install(
  path: string,
  words: readonly string[] = [],
  script = join(release, "install.sh"),
): Promise<Ran> {
  const home = join(root, `home-${++places}`);
  mkdirSync(home);
  const child = spawn("/bin/sh", [script, ...words], { env: { PATH: path, HOME: home }, cwd: home });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, text, home };
}

const binaryOf = ({ home }: Ran): string => join(home, ".local/bin/svc");
/** Neither a binary nor a download was left behind. */
function expectNothingInstalled(ran: Ran): void {
  expect(existsSync(binaryOf(ran))).toBe(false);
  const folder = join(ran.home, ".local/bin");
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
}

describe("with OpenSSL 3 and curl", () => {
  test("it installs into an empty home, and what it installed answers a turn", async (context) => {
    if ((await findProgram("openssl")) === undefined)
      requireReal(context, { name: "openssl", reason: "apt-get install openssl" });
    const ran = await install(await pathWith("openssl", "curl"));
    expect(ran).toMatchObject({ code: 0, text: expect.stringContaining("installed svc") });
    expect(readdirSync(ran.home)).toEqual([".local"]);
    expect(readdirSync(join(ran.home, ".local/bin"))).toEqual(["svc"]);
    await useForOneTurn(binaryOf(ran));
  });

  test("a second run replaces the first one's binary", async () => {
    const path = await pathWith("openssl", "curl");
    const prefix = join(root, "prefix");
    mkdirSync(join(prefix, "bin"), { recursive: true });
    writeFileSync(join(prefix, "bin/svc"), "the old one");
    expect(await install(path, ["--prefix", prefix])).toMatchObject({ code: 0 });
    expect(execFileSync(join(prefix, "bin/svc"), ["--version"], { encoding: "utf8" })).toContain(built().version);
  });

  test.each<[string, string, (text: string) => string]>([
    ["a checksum was changed", "SHA256SUMS", (text) => text.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))],
    ["a line was added", "SHA256SUMS", (text) => `${text}${"0".repeat(64)}  x\n`],
    [
      "the trusted comment was changed",
      "SHA256SUMS.minisig",
      (text) => text.replace("trusted comment: svc", "trusted comment: xvc"),
    ],
    ["the signature is empty", "SHA256SUMS.minisig", () => ""],
    ["the signature is in another form", "SHA256SUMS.minisig", (text) => text.replace(/\nRU/, "\nRW")],
  ])("it refuses the release when %s", async (_name, file, change) => {
    const path = await pathWith("openssl", "curl");
    await using other = await changedRelease(file, change);
    const ran = await install(path, ["--from", other.url]);
    expect(ran).toMatchObject({ code: 65, text: expect.stringContaining("Nothing was installed") });
    expectNothingInstalled(ran);
  });

  test("it refuses another key, and a build whose checksum is wrong", async () => {
    const path = await pathWith("openssl", "curl");
    const stranger = publicLine(parseSecretKey(makeKeyPair().secretKey));
    const otherKey = await install(path, ["--key", stranger]);
    expect(otherKey).toMatchObject({ code: 65 });
    expectNothingInstalled(otherKey);
    await using other = await changedRelease(gzName(), (text) => `${text.slice(0, 1000)}x`);
    const cut = await install(path, ["--from", other.url]);
    expect(cut).toMatchObject({ code: 65, text: expect.stringContaining("The checksum of") });
    expectNothingInstalled(cut);
  });

  test("the key after a change of keys may be the second one that the script has", async () => {
    const path = await pathWith("openssl", "curl");
    const stranger = publicLine(parseSecretKey(makeKeyPair().secretKey));
    const script = join(root, "two-keys.sh");
    writeFileSync(script, readFileSync(join(release, "install.sh"), "utf8").replace(/^keys='/m, `keys='${stranger} `));
    expect(await install(path, ["--profile", "absent"], script)).toMatchObject({
      code: 69,
      text: expect.stringContaining("has no build absent"),
    });
  });
});

const gzName = (): string => readdirSync(release).find((name) => name.endsWith(".gz"))!;

async function changedRelease(name: string, change: (text: string) => string): Promise<FileServer> {
  const folder = join(root, `release-${++places}`);
  mkdirSync(folder);
  for (const each of readdirSync(release)) cpSync(join(release, each), join(folder, each));
  writeFileSync(join(folder, name), change(readFileSync(join(release, name), "latin1")), "latin1");
  return await serveFolder(folder);
}

test("with wget, and minisign as the verifier", async (context) => {
  for (const name of ["wget", "minisign"]) {
    if ((await findProgram(name)) === undefined)
      requireReal(context, { name, reason: `apt-get install ${name}`, tier: "B" });
  }
  const path = await pathWith("wget", "minisign");
  expect(await install(path)).toMatchObject({ code: 0 });
  await using other = await changedRelease("SHA256SUMS", (text) => `${text} `);
  expect(await install(path, ["--from", other.url])).toMatchObject({ code: 65 });
});

test("without a verifier it refuses, and says how to go on; the checksum alone is taken when that is asked for", async () => {
  const path = await pathWith("curl");
  const ran = await install(path);
  expect(ran).toMatchObject({ code: 69, text: expect.stringContaining("--without-signature") });
  expectNothingInstalled(ran);
  expect(await install(path, ["--without-signature"])).toMatchObject({ code: 0 });
});

test.each<[string, readonly string[], number, string]>([
  ["--help shows the options and examples", ["--help"], 0, "Examples:"],
  ["--dry-run says what it would do", ["--dry-run"], 0, "signature  openssl"],
  ["an unknown option", ["--frm", "x"], 64, "There is no option --frm"],
  ["an option without its value", ["--profile"], 64, "--profile needs a value"],
  ["a profile that is a path", ["--profile", "../x"], 64, "--profile is a name"],
  ["an address without TLS", ["--from", "http://releases.test"], 64, "https URL"],
  ["a prefix that can't be made", ["--prefix", "/dev/null/x"], 69, "name a folder of yours"],
  ["a server that is not there", ["--from", "http://127.0.0.1:9"], 69, "can't be downloaded"],
])("%s", async (_name, words, code, text) => {
  const ran = await install(await pathWith("curl", "openssl"), words);
  expect(ran).toMatchObject({ code, text: expect.stringContaining(text) });
  expectNothingInstalled(ran);
});
