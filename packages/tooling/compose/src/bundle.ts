/** Sources → one entry chunk and lazy chunks, with esbuild. docs/decisions/0003-bundling-with-esbuild.md has why not tsup. */
import { SvcError } from "@svc/contract";
import type { BuildFailure, Metafile } from "esbuild";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { FeaturePackage } from "./manifest.ts";
import { absentPackages } from "./absent-packages.ts";
import { builtinImports, readBuiltins } from "./builtin-imports.ts";
import { jsonByPath } from "./json-by-path.ts";
import { nativeAddons, type NativeAddon } from "./native.ts";
import { sharedPackages } from "./resolve-plugin.ts";
import { provideVectoredIo } from "./vectored-io.ts";
import { wasmByUrl } from "./wasm-by-url.ts";
import { slashed } from "./workspace.ts";

export interface Bundle {
  readonly dir: string;
  /** File names in `dir`, sorted: scripts, and what they read. */
  readonly chunks: readonly string[];
  readonly metafile: Metafile;
  readonly jsBytes: number;
}

export const ENTRY_CHUNK = "svc.js";

/** CommonJS packages inside an ESM bundle expect these names; `var`, because some declare them for themselves. */
const COMMONJS = {
  require: 'globalThis.process.getBuiltinModule("node:module").createRequire(import.meta.url)',
  __filename: "import.meta.filename",
  __dirname: "import.meta.dirname",
};

const declared = (names: readonly (keyof typeof COMMONJS)[]): string =>
  names.map((name) => `var ${name}=${COMMONJS[name]};`).join("");

/** Around what esbuild writes, so that it gives none of the names to something else. */
const BANNER = declared(["require", "__filename", "__dirname"]);

/** What a binary does first. */
const START = `(${String(provideVectoredIo)})();`;

/** Native addons that `ws` would use if they were there; decided here, or it would look for them at every start. */
const WITHOUT = { "process.env.WS_NO_BUFFER_UTIL": "true", "process.env.WS_NO_UTF_8_VALIDATE": "true" };

/** @throws SvcError BUNDLE_FAILED with every place that esbuild names. */
export async function bundle(
  root: string,
  entry: string,
  features: readonly FeaturePackage[],
  natives: readonly NativeAddon[],
  dir: string,
): Promise<Bundle> {
  // Loaded here: a build that is up to date never needs it.
  const esbuild = await import("esbuild");
  const result = await esbuild
    .build({
      absWorkingDir: root,
      entryPoints: { svc: slashed(root, entry) },
      outdir: dir,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node26",
      metafile: true,
      // Identifiers are not minified, so that a stack trace can be read; docs/decisions/0003-bundling-with-esbuild.md has what that costs.
      minifySyntax: true,
      minifyWhitespace: true,
      legalComments: "none",
      banner: { js: BANNER },
      define: WITHOUT,
      loader: { ".wasm": "file" },
      plugins: [
        nativeAddons(natives),
        absentPackages(),
        builtinImports(),
        jsonByPath(),
        wasmByUrl(),
        sharedPackages(root, features),
      ],
      logLevel: "silent",
      write: false,
    })
    .catch((error: unknown) => {
      throw failed(error);
    });
  mkdirSync(dir, { recursive: true });
  const chunks: string[] = [];
  let jsBytes = 0;
  for (const { path, text, contents } of result.outputFiles) {
    const name = basename(path);
    const start = name === ENTRY_CHUNK ? START : "";
    const written = name.endsWith(".js") ? Buffer.from(start + chunkText(text)) : contents;
    if (name.endsWith(".js")) jsBytes += written.byteLength;
    writeFileSync(join(dir, name), written);
    chunks.push(name);
  }
  return { dir, chunks: chunks.sort(), metafile: result.metafile, jsBytes };
}

/** Most chunks hold no CommonJS. A name that is not needed costs time: `__dirname` mounts the files of the binary. */
function chunkText(text: string): string {
  const code = text.startsWith(BANNER) ? text.slice(BANNER.length) : text;
  const names = (["require", "__filename", "__dirname"] as const).filter((name) =>
    new RegExp(`\\b${name}\\b`).test(code),
  );
  return declared(names) + readBuiltins(code);
}

function failed(error: unknown): SvcError {
  const messages = (error as Partial<BuildFailure>).errors ?? [];
  const places = messages.map(({ text, location }) =>
    location === null ? text : `${location.file}:${location.line}:${location.column + 1} ${text}`,
  );
  return new SvcError("BUNDLE_FAILED", ["The sources can't be bundled.", ...places].join("\n  "), {
    hint: "Correct the places above; after a change of dependencies run pnpm install.",
    ...(places.length === 0 && { cause: error }),
  });
}
