/**
 * WebAssembly that a package reads from a file beside its module. The file travels in the binary, beside the chunks, under the
 * name that esbuild gives it.
 */
import type { Plugin } from "esbuild";
import { readFile } from "node:fs/promises";

/** The modules that ask in this way; another version of the package may ask otherwise, which fails the build. */
const MODULE = /[\\/]@matrix-org[\\/]matrix-sdk-crypto-wasm[\\/]node\.mjs$/;
const ASKED = /fileURLToPath\(new URL\("(\.\/pkg\/\w+\.wasm)", import\.meta\.url\)\)/;

export function wasmByUrl(): Plugin {
  return {
    name: "svc-wasm-by-url",
    setup(build) {
      build.onLoad({ filter: MODULE }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        const file = ASKED.exec(text)?.[1];
        if (file === undefined) return { errors: [{ text: "it asks for no .wasm by a URL: see wasm-by-url.ts" }] };
        const contents = `import wasmFile from "${file}";\n${text.replace(ASKED, "`${import.meta.dirname}/${wasmFile}`")}`;
        return { contents, loader: "js" };
      });
    },
  };
}
