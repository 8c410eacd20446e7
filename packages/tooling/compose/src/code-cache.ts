/** V8's code of each chunk, made at build time: a start reads it instead of compiling the chunks that it loads. */
import { SvcError } from "@svc/contract";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { ENTRY_CHUNK, type Bundle } from "./bundle.ts";
import { staticClosure } from "./prove.ts";

const run = promisify(execFile);

/** What the chunks' code is called in the binary: the chunk's name in this folder. */
const CODE_CACHE_FOLDER = "code-cache";

/** Chunks and code as one asset, and where each lies in it. */
const PACKED = { asset: "chunks", index: "chunks.json" };

/** Modules of Node that chunk-loader.ts uses: docs/decisions/0017. */
export const LOADER_FLAGS = ["--experimental-vm-modules", "--experimental-vfs"];

/**
 * @param node The Node that the binary is made of, which has to run on this machine: V8 takes only code of the very same V8.
 * @returns asset in the binary → file.
 * @throws SvcError BUILD_FAILED with what Node printed.
 */
export async function codeCache(bundle: Bundle, node: string): Promise<Record<string, string>> {
  const { dir, chunks } = bundle;
  const out = join(dir, CODE_CACHE_FOLDER);
  const program = join(import.meta.dirname, "compile-chunks.ts");
  const { NODE_OPTIONS: _dropped, ...env } = process.env;
  try {
    // The seed is in the code's hash tables and no flag that V8 compares.
    const flags = [...LOADER_FLAGS, "--disable-warning=ExperimentalWarning", "--random-seed=1"];
    await run(node, [...flags, program, dir, out, ...compiledWhole(bundle)], { env });
  } catch (error) {
    const printed = (error as { stderr?: string }).stderr?.trim() ?? "";
    throw new SvcError("BUILD_FAILED", `The chunks can't be compiled.${printed === "" ? "" : `\n  ${printed}`}`, {
      cause: error,
    });
  }
  const scripts = chunks.filter((name) => name.endsWith(".js"));
  return Object.fromEntries(scripts.map((name) => [`${CODE_CACHE_FOLDER}/${name}`, join(out, name)]));
}

/**
 * A start runs most functions of these packages. V8 compiles a function at its first call, and leaves it out of the code before that: a
 * start would spend a fifth of its time on compiling. Of other packages whole chunks would cost more memory than they save time.
 */
const RUN_BY_A_START = /^(apps\/svc|packages\/core\/(config|contract|gateway|kit|runtime|store))\//;

/** Chunks of a start that are, for the most part, of these packages. */
function compiledWhole(bundle: Bundle): string[] {
  const outputs = Object.entries(bundle.metafile.outputs).map(([path, output]) => [basename(path), output] as const);
  const byName = new Map(outputs);
  return startChunks(bundle).filter((name) => {
    const inputs = Object.entries(byName.get(name)?.inputs ?? {});
    const bytes = (of: typeof inputs): number => of.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
    return bytes(inputs.filter(([input]) => RUN_BY_A_START.test(input))) * 2 > bytes(inputs);
  });
}

/** What a start of the daemon loads of the core, in the order of its imports. */
function startChunks({ metafile }: Bundle): string[] {
  const entries = START.flatMap((source) =>
    Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) => (source.test(entryPoint ?? "") ? [path] : [])),
  );
  const chunks = entries.flatMap((path) => staticClosure(metafile, path));
  return [...new Set(chunks)].map((path) => basename(path)).filter((name) => name.endsWith(".js"));
}

/** Sources that are loaded one after the other, by `import()`. */
const START = [
  /^apps\/svc\/\.gen\/[^/]+\/entry\.ts$/,
  /^apps\/svc\/src\/cli\/inherited\.ts$/,
  /^apps\/svc\/src\/run\.ts$/,
  /^apps\/svc\/src\/service\/daemon\/daemon\.ts$/,
  /^apps\/svc\/src\/backup\/interrupted\.ts$/,
  /^apps\/svc\/\.gen\/[^/]+\/features\.ts$/,
];

const LARGE_BYTES = 256 * 1024;

/**
 * One asset of the chunks and their code, what a start reads first: the kernel maps a file around each place that is read, and so
 * would map all of many assets. A large chunk that no start reads is an asset of its own: V8 counts the bytes of an asset as memory in use
 * from its first read on, and 45 MB of them have it collect garbage during the start.
 *
 * @param code From `codeCache`.
 * @returns asset in the binary → file.
 */
export function packChunks(bundle: Bundle, code: Readonly<Record<string, string>>): Record<string, string> {
  const { dir, chunks } = bundle;
  const first = startChunks(bundle);
  const ordered = [...first, ...chunks.filter((name) => !first.includes(name))];
  const places: Record<string, readonly [number, number]> = {};
  const parts: Buffer[] = [];
  const files: Record<string, string> = {
    [PACKED.asset]: join(dir, "packed"),
    [PACKED.index]: join(dir, "packed.json"),
  };
  let at = 0;
  for (const name of ordered) {
    const codeName = `${CODE_CACHE_FOLDER}/${name}`;
    const isOfStart = first.includes(name);
    for (const [asset, file] of Object.entries({ [name]: join(dir, name), [codeName]: code[codeName] })) {
      if (file === undefined) continue;
      const bytes = readFileSync(file);
      if (bytes.length > LARGE_BYTES && !isOfStart) {
        files[asset] = file;
        continue;
      }
      places[asset] = [at, bytes.length];
      parts.push(bytes);
      at += bytes.length;
    }
  }
  writeFileSync(files[PACKED.asset]!, Buffer.concat(parts));
  writeFileSync(files[PACKED.index]!, JSON.stringify(places));
  return files;
}

/**
 * The main script of a binary: chunk-loader.ts as one CommonJS script, behind the answer to `--version`.
 *
 * @param version The text of that answer.
 */
export async function mainScript(version: string): Promise<string> {
  const esbuild = await import("esbuild");
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(import.meta.dirname, "chunk-loader.ts")],
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node26",
    minifySyntax: true,
    minifyWhitespace: true,
    define: {
      ENTRY_CHUNK: JSON.stringify(ENTRY_CHUNK),
      CODE_CACHE_FOLDER: JSON.stringify(CODE_CACHE_FOLDER),
      PACKED: JSON.stringify(PACKED),
    },
    logLevel: "silent",
    write: false,
  });
  return `if((${String(answerVersion)})(${JSON.stringify(version)}))return;${outputFiles[0]!.text}`;
}

/**
 * Runs first in each binary, as text: it can use nothing from outside. It answers before the loader and its modules of Node are there;
 * what can't be written is for the entry to report.
 */
function answerVersion(text: string): boolean {
  const { argv } = globalThis.process;
  if (argv.length !== 3 || (argv[2] !== "--version" && argv[2] !== "-v")) return false;
  try {
    globalThis.process.getBuiltinModule("node:fs").writeSync(1, text);
    return true;
  } catch {
    return false;
  }
}
