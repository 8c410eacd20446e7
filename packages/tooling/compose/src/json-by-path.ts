/**
 * JSON files of a package that it asks for by a path which it puts together while it runs. In a binary there is no such path, so
 * that what is asked for is named here, and travels in the bundle.
 */
import type { Plugin } from "esbuild";
import { readFile } from "node:fs/promises";

interface Asking {
  /** The file that asks. */
  readonly module: RegExp;
  /** What stands there; the group is the JSON file's name. */
  readonly call: RegExp;
  /** The folder of the JSON files, from that file. */
  readonly folder: string;
  /** All that are asked for in this way: another version of the package may ask for others, which fails the build. */
  readonly names: readonly string[];
}

const ASKING: readonly Asking[] = [
  {
    module: /[\\/]playwright-core[\\/]lib[\\/](?:coreBundle|serverRegistry|package)\.js$/,
    call: /\brequire\(import_path\d*\.default\.join\(packageRoot, "([^"]+)"\)\)/g,
    folder: "..",
    names: ["browsers.json", "package.json"],
  },
];

export function jsonByPath(): Plugin {
  return {
    name: "svc-json-by-path",
    setup(build) {
      for (const { module, call, folder, names } of ASKING) {
        build.onLoad({ filter: module }, async ({ path }) => {
          const text = await readFile(path, "utf8");
          const asked = [...text.matchAll(call)].map(([, name = ""]) => name);
          const strange = asked.length === 0 ? ["nothing"] : asked.filter((name) => !names.includes(name));
          if (strange.length > 0)
            return { errors: [{ text: `it asks for ${strange.join(", ")} by a path: see json-by-path.ts` }] };
          return { contents: text.replaceAll(call, `require("${folder}/$1")`), loader: "js" };
        });
      }
    },
  };
}
