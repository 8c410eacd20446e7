/**
 * `npm run attack:artefacts`: installs each artefact of a release into a throw-away folder, and runs the tests that attack a daemon
 * against what was installed.
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { distDir, hostTarget, workspaceRoot } from "@svc/compose";
import { EXIT, SvcError } from "@svc/contract";
import { ATTACK_FILES } from "./attack-files.ts";
import { type Build, readBuild } from "./builds.ts";
import { serveFolder } from "./file-server.ts";
import { makeDeb } from "./linux-packages.ts";
import { makeNpmPackages } from "./npm-packages.ts";
import { exitOf, makeRelease } from "./release.ts";
import { makeKeyPair, parseSecretKey } from "./signing.ts";

const HELP = `npm run attack:artefacts -- [options]

Makes artefacts of dist/minimal and dist/all, installs each into a throw-away folder, and runs the tests that attack a daemon
against the installed binaries. Build first: npm run build -- minimal && npm run build -- all

  --only a,b   artefacts: deb, npm, sh (default: all three; deb is the package, npm the platform package, sh install.sh)
  --file a,b   test files (default: all that attack)
  --list       list the test files
  --json       print the result as JSON

Examples
  npm run attack:artefacts
  npm run attack:artefacts -- --only deb --file apps/svc/test/file-races.test.ts

Exit codes: 1 a test failed, 64 wrong arguments, 70 an artefact could not be made.
`;

const KINDS = ["deb", "npm", "sh"] as const;
type Kind = (typeof KINDS)[number];

interface Attacked {
  readonly artefact: Kind;
  /** Of the installed binary of the profile `minimal`. */
  readonly sha256: string;
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: number;
}

async function main(): Promise<number> {
  const args = readArgs();
  const files = args.file?.split(",") ?? Object.values(ATTACK_FILES).flat();
  if (args.help || args.list) {
    process.stdout.write(args.help ? HELP : `${files.join("\n")}\n`);
    return EXIT.ok;
  }
  const kinds = (args.only?.split(",") ?? KINDS) as readonly Kind[];
  if (kinds.some((kind) => !KINDS.includes(kind))) throw usage(`--only takes: ${KINDS.join(", ")}.`);
  const builds = (["minimal", "all"] as const).map((profile) =>
    readBuild(distDir(workspaceRoot, profile, hostTarget())),
  );
  const results: Attacked[] = [];
  for (const kind of kinds) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), `svc-attack-${kind}-`)));
    // As where packages install to: commands of other users start the binary, too.
    chmodSync(folder, 0o755);
    try {
      process.stderr.write(`${kind}: make and install\n`);
      const installed: string[] = [];
      for (const build of builds) {
        const binary = await INSTALLERS[kind](build, folder);
        // Tests of what is loaded read the build's record beside the binary.
        copyFileSync(join(dirname(build.file), "build.json"), join(dirname(binary), "build.json"));
        installed.push(binary);
      }
      const [minimal = "", all = ""] = installed;
      process.stderr.write(`${kind}: ${files.length} test files against ${minimal} and ${all}\n`);
      results.push({ artefact: kind, sha256: digestOf(minimal), ...(await attack({ minimal, all, files, folder })) });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  process.stdout.write(args.json ? `${JSON.stringify(results, null, 2)}\n` : textOf(results));
  return results.some(({ failed }) => failed.length > 0) ? 1 : EXIT.ok;
}

function readArgs() {
  const flag = { type: "boolean" } as const;
  const text = { type: "string" } as const;
  try {
    return parseArgs({ options: { only: text, file: text, list: flag, json: flag, help: flag } }).values;
  } catch (cause) {
    throw usage((cause as Error).message);
  }
}

const usage = (message: string): SvcError =>
  new SvcError("USAGE", message, { hint: "npm run attack:artefacts -- --help" });

const digestOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Each resolves with the path of the installed binary. */
const INSTALLERS: Readonly<Record<Kind, (build: Build, folder: string) => Promise<string>>> = {
  async deb(build, folder) {
    const { out, root } = foldersOf(build, folder);
    const name = await makeDeb({ build, runnable: build.file, out, compression: "fast" });
    execFileSync("dpkg-deb", ["--extract", join(out, name), root], { stdio: "pipe" });
    return join(root, "usr/lib/svc/svc");
  },
  async npm(build, folder) {
    const { out, root } = foldersOf(build, folder);
    const names = await makeNpmPackages([build], out);
    const name = names.find((each) => each.includes(build.target));
    if (name === undefined) throw new SvcError("BUILD_FAILED", `npm made no package for ${build.target}.`);
    execFileSync("tar", ["--extract", "--gzip", `--file=${join(out, name)}`, `--directory=${root}`], { stdio: "pipe" });
    return join(root, "package/bin/svc");
  },
  /** The script itself runs: it downloads from loopback and verifies the signature. */
  async sh(build, folder) {
    const { out, root } = foldersOf(build, folder);
    const server = await serveFolder(out);
    try {
      const from = { url: server.url, latest: server.url, keys: [], kinds: [], note: () => {} };
      const signing = parseSecretKey(makeKeyPair().secretKey);
      await makeRelease({ ...from, builds: [build], out, signing, mainProfile: build.profile, compression: "fast" });
      await installed(["sh", join(out, "install.sh"), "--profile", build.profile, "--prefix", root]);
      return join(root, "bin/svc");
    } finally {
      await server[Symbol.asyncDispose]();
    }
  },
};

function foldersOf({ profile }: Build, folder: string): { readonly out: string; readonly root: string } {
  const [out, root] = [join(folder, `${profile}-made`), join(folder, `${profile}-installed`)];
  for (const each of [out, root]) mkdirSync(each);
  return { out, root };
}

/** Not synchronous: the server that it downloads from is in this process. */
async function installed([program = "", ...words]: readonly string[]): Promise<void> {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new SvcError("BUILD_FAILED", `install.sh ended with ${code}: ${text.trim()}`);
}

interface Targets {
  readonly minimal: string;
  readonly all: string;
  readonly files: readonly string[];
  readonly folder: string;
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

async function attack({ minimal, all, files, folder }: Targets): Promise<Omit<Attacked, "artefact" | "sha256">> {
  const report = join(folder, "report.json");
  const words = ["run", "--project", "e2e", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const vitest = join(workspaceRoot, "node_modules/vitest/vitest.mjs");
  // A run within a test must not take that one's worker for its own.
  const own = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|SVC_TEST_REPORT$|NODE_OPTIONS$)/.test(name));
  const child = spawn(process.execPath, [vitest, ...words, ...files], {
    cwd: workspaceRoot,
    env: { ...Object.fromEntries(own), SVC_BINARY: minimal, SVC_BINARY_ALL: all },
    stdio: ["ignore", 2, 2],
  });
  await new Promise<void>((resolve) => child.once("close", () => resolve()));
  const {
    numPassedTests: passed,
    numPendingTests: skipped,
    testResults,
  } = JSON.parse(readFileSync(report, "utf8")) as VitestReport;
  const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((each) => each.status === "failed").map(({ fullName }) => fullName);
    // A file that could not be loaded has no tests.
    return tests.length === 0 && status === "failed" ? [`${name}: ${message}`] : tests;
  });
  if (passed + failed.length === 0) throw new SvcError("BUILD_FAILED", "No test ran.");
  return { passed, failed, skipped };
}

const textOf = (results: readonly Attacked[]): string =>
  results
    .map(({ artefact, sha256, passed, failed, skipped }) =>
      [
        `${artefact.padEnd(4)} ${passed} passed, ${failed.length} failed, ${skipped} skipped  sha256 ${sha256.slice(0, 16)}\n`,
        ...failed.map((name) => `     failed: ${name}\n`),
      ].join(""),
    )
    .join("");

// Last: what it uses are constants of this module.
try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = exitOf(error);
  const hint = error instanceof SvcError && error.hint !== undefined ? `\n→ ${error.hint}` : "";
  process.stderr.write(`${error instanceof SvcError ? `${error.code}: ${error.message}` : String(error)}${hint}\n`);
}
