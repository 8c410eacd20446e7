/** State at module level, in the sources of one package. */
import { findModuleState, isExcepted, parseSource } from "@svc/source/module-state";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const CODE = /\.(?:ts|tsx|mts|js|mjs)$/;
const NO_CODE = /(?:^|\/)(?:node_modules|test)\/|\.(?:test|d)\.\w+$/;

/**
 * `file:line what` of each, in all below the folder of its entry, which is where what the bundler takes begins. Throws
 * `SyntaxError` for what does not parse.
 */
export function moduleStateBelow(root: string, folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  const sources = files
    .filter((path) => CODE.test(path) && !NO_CODE.test(path))
    .toSorted()
    // Named as in this repository, where exceptions are made.
    .map((path) =>
      parseSource(`packages/features/${basename(root)}/src/${path}`, readFileSync(join(folder, path), "utf8")),
    );
  return findModuleState(sources, { isExcepted }).map(({ file, line, message }) => `${file}:${line} ${message}`);
}
