/** Profile → proved bundle → one binary with its record. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { baseNode, sha256Of } from "./base-node.ts";
import { checkBudget } from "./budget.ts";
import { readBuildRecord, type BuildRecord } from "./build-record.ts";
import { bundle } from "./bundle.ts";
import { readCatalogue } from "./catalogue.ts";
import { chunkContents } from "./chunk-contents.ts";
import { codeCache, packChunks } from "./code-cache.ts";
import { generate } from "./generate.ts";
import { inputHashes } from "./inputs.ts";
import { locateNatives } from "./native.ts";
import { buildPage } from "./page.ts";
import { quiet, type Reporter } from "./reporter.ts";
import { prove } from "./prove.ts";
import { componentsOf } from "./sbom.ts";
import { scratchDir } from "./scratch.ts";
import { makeBinary, tryBinary } from "./sea.ts";
import { resolveProfile, type Request, type Selection } from "./select.ts";
import { signedMachO } from "./sign-mach-o.ts";
import { sourceOf } from "./source.ts";
import { staleness } from "./stale.ts";
import { distDir, hostTarget, targetName } from "./target.ts";
import { removeLibatomic } from "./without-libatomic.ts";
import { productVersion, workspaceRoot } from "./workspace.ts";

export interface BuildOptions extends Request {
  readonly root?: string;
  /** Build even when nothing changed. */
  readonly force?: boolean;
  /** Default: `dist/<name>`. */
  readonly outDir?: string;
  readonly reporter?: Reporter;
}

export interface BuildResult {
  readonly dir: string;
  readonly binary: string;
  readonly record: BuildRecord;
  /** What made the build necessary; undefined when it was up to date. */
  readonly reason?: string;
}

/** @throws SvcError for everything that can be wrong with the request, the packages, the bundle or the machine. */
export async function build(options: BuildOptions): Promise<BuildResult> {
  const { root = workspaceRoot, reporter = quiet } = options;
  const resolved = await reporter.step("resolve", async () => {
    const catalogue = readCatalogue(root);
    const selection = resolveProfile(catalogue, options);
    const source = await sourceOf(root);
    return { catalogue, selection, source, hashes: inputHashes(catalogue, selection, source) };
  });
  const { catalogue, selection, source, hashes } = resolved;
  for (const text of selection.notes) reporter.note(text);
  const dir = options.outDir ?? distDir(root, selection.name, selection.target);
  const state = staleness(dir, hashes);
  const record = readBuildRecord(dir);
  if (!state.stale && options.force !== true && record !== undefined) {
    return { dir, binary: join(dir, record.binary.file), record };
  }
  const reason = state.stale ? state.reason : "--force";

  const natives = await reporter.step("addons", () => locateNatives(root, selection.features, selection.target));
  const generated = generate(catalogue, selection, source.commit);
  // A folder of its own: two builds at once do not meet, and what is in dist/ is whole until the last rename.
  const work = scratchDir(dirname(dir));
  try {
    const bundled = await reporter.step("bundle", () =>
      bundle(root, generated.entry, selection.features, natives, work),
    );
    const proof = await reporter.step("prove", async () => prove(root, selection, bundled));
    const page = await reporter.step("page", () => buildPage(root));
    const base = await reporter.step("strip", () => baseNode(root, selection.target, reporter.note));
    // V8 compiles for itself alone: a binary for another system compiles its chunks as it loads them.
    const code = runsHere(selection) ? await reporter.step("compile", () => codeCache(bundled, base.file)) : {};
    const binary = join(work, selection.target.binaryName);
    await reporter.step("build", async () => {
      const addons = Object.fromEntries(natives.map(({ asset, file }) => [asset, file]));
      const assets = { ...packChunks(bundled, code), ...addons, ...page.assets };
      await makeBinary(bundled, base.file, `svc ${productVersion(root)} (${source.commit})\n`, assets, binary);
      if (selection.target.os === "linux") withoutLibatomic(binary, reporter.note);
      if (selection.target.os === "darwin" && process.platform !== "darwin") {
        writeFileSync(binary, signedMachO(readFileSync(binary)));
      }
      chmodSync(binary, 0o755);
    });
    if (runsHere(selection)) await reporter.step("try", () => tryBinary(binary));

    const bytes = statSync(binary).size;
    const record: BuildRecord = {
      name: "svc",
      version: productVersion(root),
      ...source,
      target: targetName(selection.target),
      profile: selection.profile,
      with: selection.added,
      without: selection.removed,
      features: selection.features.map(({ manifest: { id }, packageName, version }) => ({
        id,
        package: packageName,
        version,
      })),
      planned: selection.planned,
      skipped: selection.skipped,
      signature: selection.target.os === "darwin" ? "ad hoc" : null,
      core: proof.core,
      binary: { file: selection.target.binaryName, bytes, sha256: await sha256Of(binary) },
      js: { bytes: bundled.jsBytes, entryBytes: proof.entryBytes, chunks: bundled.chunks.length },
      chunks: chunkContents(root, selection.features, bundled.metafile),
      page: page.size,
      node: { package: base.package, version: base.version, sha256: base.sha256, strippedBy: base.strippedBy },
      budget: checkBudget(selection.name, selection.budget, {
        binary_mb: bytes / 1e6,
        js_kb: bundled.jsBytes / 1e3,
        entry_kb: proof.entryBytes / 1e3,
        page_kb: page.size.scriptGzipBytes / 1e3,
        page_first_kb: page.size.firstGzipBytes / 1e3,
      }),
      sbom: [
        { name: "node", version: base.version, license: base.license },
        ...componentsOf(root, selection.features, bundled.metafile),
      ],
      inputs: hashes,
    };
    place(work, dir, record);
    return { dir, binary: join(dir, record.binary.file), record, reason };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A binary that can't be changed works where the library is installed. */
function withoutLibatomic(binary: string, note: (text: string) => void): void {
  const bytes = readFileSync(binary);
  try {
    removeLibatomic(bytes);
  } catch (error) {
    note(`the binary needs libatomic.so.1 on each machine: ${(error as Error).message}`);
    return;
  }
  writeFileSync(binary, bytes);
}

/** By rename, because a running daemon keeps its file; the record last, because it vouches for the rest. */
function place(work: string, dir: string, record: BuildRecord): void {
  const { file, sha256 } = record.binary;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(work, "svc.sha256"), `${sha256}  ${file}\n`);
  writeFileSync(join(work, "build.json"), `${JSON.stringify(record, null, 2)}\n`);
  for (const name of [file, "svc.sha256", "build.json"]) renameSync(join(work, name), join(dir, name));
}

function runsHere({ target }: Selection): boolean {
  return targetName(target) === targetName(hostTarget());
}
