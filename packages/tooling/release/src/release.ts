/** A release: every artefact of a set of builds, in one folder. */
import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, SvcError } from "@svc/contract";
import type { ReleaseManifest } from "@svc/kit/releases";
import { type Build, type Compression, packBuild, writeChecksums, writeManifest } from "./builds.ts";
import { FILES, makeDeb, makeRpm, settleTree } from "./linux-packages.ts";
import { makeNpmPackages } from "./npm-packages.ts";
import { homebrewFormula, wingetManifests } from "./package-manifests.ts";
import { publicLine, type SigningKey } from "./signing.ts";

export const KINDS = ["deb", "rpm", "npm", "container", "homebrew", "winget"] as const;
export type Kind = (typeof KINDS)[number];

export interface ReleaseOptions {
  readonly builds: readonly Build[];
  /** Empty or absent. */
  readonly out: string;
  /** The release's own folder on the server: what package managers are told. */
  readonly url: string;
  /** The folder of the newest release, which install.sh and `svc update` use. */
  readonly latest: string;
  /** Of the keys that are in the builds. */
  readonly keys: readonly string[];
  readonly signing: SigningKey | undefined;
  /** The profile of the packages that hold only one: npm, Homebrew, winget, the container image. */
  readonly mainProfile: string;
  readonly kinds: readonly Kind[];
  readonly compression?: Compression;
  readonly note: (text: string) => void;
}

export interface MadeRelease {
  readonly manifest: ReleaseManifest;
  /** Relative to `out`. */
  readonly files: readonly string[];
}

/** Throws USAGE, BUILD_FAILED. */
export async function makeRelease(options: ReleaseOptions): Promise<MadeRelease> {
  const { builds, out, kinds, note, signing } = options;
  mkdirSync(out, { recursive: true });
  if (readdirSync(out).length > 0) {
    throw new SvcError("USAGE", `${out} is not empty.`, { hint: "Remove it, or name another folder with --out." });
  }
  const packed = [];
  for (const build of builds) {
    note(`compress ${build.profile} for ${build.target}`);
    packed.push(await packBuild(build, out, options.compression));
  }
  const manifest = writeManifest(builds, packed, out);
  writeInstallScript(options);
  const runnable = builds.find(({ target }) => target === `${process.platform}-${process.arch}`);
  const main = builds.filter(({ profile }) => profile === options.mainProfile);
  for (const kind of kinds) {
    note(kind);
    await MAKERS[kind]({ ...options, manifest, runnable: runnable?.file, main });
  }
  // Not the folders of container images: those are built from here, and published as images.
  const files = filesIn(out);
  const comment = `svc ${manifest.version} ${manifest.commit}`;
  await writeChecksums(files, out, signing && { key: signing, comment });
  return { manifest, files: filesIn(out) };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted();

interface MakerOptions extends ReleaseOptions {
  readonly manifest: ReleaseManifest;
  /** A binary that runs here. */
  readonly runnable: string | undefined;
  /** The builds of the main profile. */
  readonly main: readonly Build[];
}

const MAKERS: Readonly<Record<Kind, (options: MakerOptions) => Promise<void>>> = {
  deb: (options) => linuxPackages(options, makeDeb),
  rpm: (options) => linuxPackages(options, makeRpm),
  async npm({ main, out }) {
    if (main.length > 0) await makeNpmPackages(main, out);
  },
  async container({ main, out }) {
    for (const { target, file } of main.filter((build) => build.target.startsWith("linux-"))) {
      const folder = join(out, `container-${target}`);
      mkdirSync(folder);
      for (const name of ["Dockerfile", "compose.yaml", "Caddyfile"]) cpSync(join(FILES, name), join(folder, name));
      cpSync(file, join(folder, "svc"));
      chmodSync(join(folder, "svc"), 0o755);
      settleTree(folder);
    }
  },
  async homebrew({ manifest, mainProfile, url, out }) {
    const formula = homebrewFormula(manifest, mainProfile, url);
    if (formula !== undefined) writeFileSync(join(out, "svc.rb"), formula);
  },
  async winget({ main, manifest, url, out }) {
    const build = main.find(({ target }) => target === "win32-x64");
    if (!build) return;
    const bytes = readFileSync(build.file);
    const file = `svc-${manifest.version}-${build.profile}-${build.target}.exe`;
    writeFileSync(join(out, file), bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    for (const [name, text] of Object.entries(wingetManifests(manifest.version, url, { file, sha256 })))
      writeFileSync(join(out, name), text);
  },
};

async function linuxPackages(
  { builds, out, runnable, compression = "small" }: MakerOptions,
  make: typeof makeDeb,
): Promise<void> {
  const linux = builds.filter(({ target }) => target.startsWith("linux-"));
  if (linux.length === 0) return;
  if (runnable === undefined) {
    throw new SvcError("USAGE", "A release with packages for Linux needs a build that runs here.", {
      hint: "It prints the completions and the manual page. Add one, or leave the packages out with --only.",
    });
  }
  for (const build of linux) await make({ build, runnable, out, compression });
}

/** The script holds the address of the newest release and the keys, so that `curl … | sh` needs no option. */
function writeInstallScript({ out, latest, keys, signing }: ReleaseOptions): void {
  const trusted = keys.length > 0 ? keys : signing ? [publicLine(signing)] : [];
  const text = readFileSync(join(FILES, "install.sh"), "utf8")
    .replace("url='@url@'", `url='${shellText(latest)}'`)
    .replace("keys='@keys@'", `keys='${shellText(trusted.join(" "))}'`);
  writeFileSync(join(out, "install.sh"), text, { mode: 0o755 });
}

function shellText(text: string): string {
  if (/^[\w+/=:.@~%?&, -]*$/.test(text)) return text;
  throw new SvcError("USAGE", "The address of releases has characters that no address has.");
}

export const exitOf = (error: unknown): number => (error instanceof SvcError ? error.exitCode : EXIT.software);
