/** `pnpm release`: builds, packages, checksums and signatures in one folder. It publishes nothing: the workflow uploads the folder. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { EXIT, SvcError } from "@svc/contract";
import { build, distDir, hostTarget, lines, readReleases, targetName, targetOf, workspaceRoot } from "@svc/compose";
import { readBuild } from "./builds.ts";
import { exitOf, type Kind, KINDS, makeRelease } from "./release.ts";
import { makeKeyPair, parseSecretKey, publicLine, type SigningKey } from "./signing.ts";

const HELP = `pnpm release [--dry-run] [options]

Makes every artefact of a release in one folder: binaries, install.sh, .deb, .rpm, npm packages, the folder of the container
image, the Homebrew formula, the winget manifests, SHA256SUMS and release.json with their signatures. Publishes nothing.

  --dry-run          sign with a key that is made for this run; also with changed sources
  --profile a,b      profiles (default: minimal,home,standard,full; with --dry-run: minimal)
  --target a,b       platforms (default: this machine): linux-x64, linux-arm64 …
  --built            take what is in dist/ as it is, and build nothing
  --main <profile>   of the packages that hold one profile: npm, Homebrew, winget, container (default: the first)
  --only a,b         kinds of packages: ${KINDS.join(", ")} (default: all)
  --out <folder>     default: dist/release, made anew
  --url <url>        folder of this release on the server; default: "url" of releases.json
  --latest <url>     folder of the newest release, for install.sh and svc update; default: the same
  --key-file <file>  unencrypted secret key of minisign; default: the variable SVC_RELEASE_KEY
  --no-sign          sign later, with minisign itself: minisign -S -m release.json SHA256SUMS
  --new-key <folder> make a pair of keys there, and nothing else
  --json             print the files as JSON

Examples
  pnpm release --dry-run
  pnpm release --dry-run --built --profile minimal,full --only deb,npm
  pnpm release --url https://example.org/svc/0.2.0 --key-file ~/svc.key
  pnpm release --new-key ~/keys

Exit codes: 64 wrong arguments, 70 a package could not be made.
`;

try {
  await main();
} catch (error) {
  process.exitCode = exitOf(error);
  const known = error instanceof SvcError ? error : undefined;
  const text = known
    ? `${known.code}: ${known.message}${known.hint === undefined ? "" : `\n→ ${known.hint}`}`
    : (error as Error).stack;
  process.stderr.write(`${text}\n`);
}

async function main(): Promise<void> {
  const args = readArgs();
  if (args.help) return void process.stdout.write(HELP);
  if (args["new-key"] !== undefined) return newKey(resolve(args["new-key"]));
  const dryRun = args["dry-run"] === true;
  const releases = readReleases(workspaceRoot);
  const signing = signingKey(args, releases.keys);
  const profiles = args.profile?.split(",") ?? (dryRun ? ["minimal"] : ["minimal", "home", "standard", "full"]);
  const targets = args.target?.split(",") ?? [targetName(hostTarget())];
  const kinds = (args.only?.split(",") ?? KINDS) as readonly Kind[];
  if (kinds.some((kind) => !KINDS.includes(kind))) throw usage(`--only takes: ${KINDS.join(", ")}.`);
  const url = args.url ?? (releases.url || (dryRun ? "https://releases.invalid/svc" : ""));
  if (!/^https:\/\/|^http:\/\/127\.0\.0\.1:/.test(url))
    throw usage("A release needs the https address of its folder: --url.");
  const note = (text: string): void => void process.stderr.write(`${text}\n`);

  const builds = [];
  for (const profile of profiles) {
    for (const name of targets) {
      const target = targetOf(name);
      const dir = distDir(workspaceRoot, profile, target);
      if (args.built !== true) {
        const request = { profile, with: [], without: [], target };
        await build({ ...request, reporter: lines(process.stderr, () => performance.now()) });
      }
      const made = readBuild(dir);
      if (!dryRun && /dirty|unknown/.test(made.commit)) {
        throw usage("The sources differ from their commit; a release is made of a commit alone.");
      }
      builds.push(made);
    }
  }
  const out = resolve(args.out ?? join(workspaceRoot, "dist/release"));
  if (args.out === undefined) rmSync(out, { recursive: true, force: true });
  const made = await makeRelease({
    builds,
    out,
    url,
    latest: args.latest ?? url,
    keys: dryRun ? [] : releases.keys,
    signing,
    mainProfile: args.main ?? profiles[0]!,
    kinds,
    note,
  });
  const files = made.files.map((name) => ({ name, bytes: statSync(join(out, name)).size }));
  const { version, commit } = made.manifest;
  const key = signing ? publicLine(signing) : null;
  if (args.json === true) process.stdout.write(`${JSON.stringify({ version, commit, out, key, files }, null, 2)}\n`);
  else {
    const width = Math.max(...files.map(({ name }) => name.length));
    for (const { name, bytes } of files)
      process.stdout.write(`${name.padEnd(width)}  ${(bytes / 1e6).toFixed(1)} MB\n`);
    process.stdout.write(
      `svc ${version} (${commit}) in ${out}\n${key === null ? "not signed" : `signed with ${key}`}\n`,
    );
  }
}

function readArgs() {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = {
    "dry-run": flag,
    profile: text,
    target: text,
    built: flag,
    main: text,
    only: text,
    out: text,
    url: text,
    latest: text,
    "key-file": text,
    "no-sign": flag,
    "new-key": text,
    json: flag,
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    return parseArgs({ args: process.argv.slice(2), options }).values;
  } catch (cause) {
    throw new SvcError("USAGE", (cause as Error).message, { hint: "See: pnpm release --help", cause });
  }
}

function usage(message: string): SvcError {
  return new SvcError("USAGE", message, { hint: "See: pnpm release --help" });
}

/** Throws USAGE for a key that no build trusts: every installed svc would refuse the release. */
function signingKey(args: ReturnType<typeof readArgs>, trusted: readonly string[]): SigningKey | undefined {
  if (args["no-sign"] === true) return undefined;
  if (args["dry-run"] === true) return parseSecretKey(makeKeyPair().secretKey);
  const text = args["key-file"] === undefined ? process.env["SVC_RELEASE_KEY"] : readFileSync(args["key-file"], "utf8");
  if (text === undefined || text.trim() === "")
    throw usage("A release is signed: --key-file, SVC_RELEASE_KEY or --no-sign.");
  const key = parseSecretKey(text);
  if (!trusted.includes(publicLine(key))) throw usage("releases.json does not have the public key of this secret key.");
  return key;
}

function newKey(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [secretFile, publicFile] = [join(folder, "svc.key"), join(folder, "svc.pub")] as const;
  if (existsSync(secretFile)) throw usage(`${secretFile} exists, and is not replaced.`);
  const { publicKey, secretKey } = makeKeyPair();
  writeFileSync(secretFile, secretKey, { mode: 0o600, flag: "wx" });
  writeFileSync(publicFile, publicKey, { flag: "wx" });
  process.stdout.write(
    `wrote ${secretFile}: keep it secret, and a copy of it offline\nwrote ${publicFile}: put its second line into "keys" of releases.json\n`,
  );
  process.exitCode = EXIT.ok;
}
