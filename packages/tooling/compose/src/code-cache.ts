/** V8's code of each chunk, made at build time: a start reads it instead of compiling the chunks that it loads. */
import { SvcError } from "@svc/contract";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ENTRY_CHUNK, type Bundle } from "./bundle.ts";

const run = promisify(execFile);

/** Of the assets in the binary. */
const CODE_CACHE_FOLDER = "code-cache";

/** Modules of Node that chunk-loader.ts uses: docs/decisions/0017. */
export const LOADER_FLAGS = ["--experimental-vm-modules", "--experimental-vfs"];

/**
 * @param node The Node that the binary is made of, which has to run on this machine: V8 takes only code of the very same V8.
 * @returns asset in the binary → file.
 * @throws SvcError BUILD_FAILED with what Node printed.
 */
export async function codeCache({ dir, chunks }: Bundle, node: string): Promise<Record<string, string>> {
  const out = join(dir, CODE_CACHE_FOLDER);
  const program = join(import.meta.dirname, "compile-chunks.ts");
  const { NODE_OPTIONS: _dropped, ...env } = process.env;
  try {
    // The seed is in the code's hash tables and no flag that V8 compares.
    const flags = [...LOADER_FLAGS, "--disable-warning=ExperimentalWarning", "--random-seed=1"];
    await run(node, [...flags, program, dir, out], { env });
  } catch (error) {
    const printed = (error as { stderr?: string }).stderr?.trim() ?? "";
    throw new SvcError("BUILD_FAILED", `The chunks can't be compiled.${printed === "" ? "" : `\n  ${printed}`}`, {
      cause: error,
    });
  }
  const scripts = chunks.filter((name) => name.endsWith(".js"));
  return Object.fromEntries(scripts.map((name) => [`${CODE_CACHE_FOLDER}/${name}`, join(out, name)]));
}

/** The text of chunk-loader.ts as one CommonJS script. */
export async function chunkLoader(): Promise<string> {
  const esbuild = await import("esbuild");
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(import.meta.dirname, "chunk-loader.ts")],
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node26",
    minifySyntax: true,
    minifyWhitespace: true,
    define: { ENTRY_CHUNK: JSON.stringify(ENTRY_CHUNK), CODE_CACHE_FOLDER: JSON.stringify(CODE_CACHE_FOLDER) },
    logLevel: "silent",
    write: false,
  });
  return outputFiles[0]!.text;
}
