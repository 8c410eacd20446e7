/** A plugin's compiler is here already: its folder gets a link to it, so that nothing is downloaded. */
import { existsSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

const COMPILER = "node_modules/assemblyscript";

/** What went wrong, as text for a person; undefined when all went well. */
export function linkCompiler(root: string, folder: string): string | undefined {
  const compiler = join(root, "packages/features/plugins-wasm", COMPILER);
  if (!existsSync(compiler)) return "assemblyscript is not installed here.";
  const link = join(root, folder, COMPILER);
  mkdirSync(dirname(link), { recursive: true });
  // Windows lets ordinary users create junctions, but not symbolic links.
  symlinkSync(realpathSync(compiler), link, "junction");
  return undefined;
}
