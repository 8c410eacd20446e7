/**
 * Packages that a library uses if they are installed, and does without otherwise. They are not installed: that is
 * decided here, once, or every process would look for them beside the binary and take whatever lies there.
 */
import type { Plugin } from "esbuild";

/** Who asks for it, and what it does without it. */
const OPTIONAL: Readonly<Record<string, string>> = {
  "audio-decode": "baileys: draws no waveform of a recording",
  "chromium-bidi": "playwright-core: drives a Chromium by the DevTools protocol alone",
  electron: "playwright-core: drives no application of that kind",
  encoding: "node-fetch: reads no other encodings than UTF-8",
  jimp: "baileys: makes no thumbnails",
  kerberos: "playwright-core: signs in to no proxy by it",
  "link-preview-js": "baileys: fetches no pages for previews",
  sharp: "baileys: makes no thumbnails",
  "supports-color": "debug: writes without colours",
  "zlib-sync": "@discordjs/ws: compresses with node:zlib, or not at all",
};

export function absentPackages(): Plugin {
  return {
    name: "svc-absent-packages",
    setup(build) {
      const filter = new RegExp(`^(${Object.keys(OPTIONAL).join("|")})(/|$)`);
      build.onResolve({ filter }, async ({ path, kind, resolveDir, pluginData }) => {
        if (pluginData === OURS) return undefined;
        const found = await build.resolve(path, { kind, resolveDir, pluginData: OURS });
        return found.errors.length === 0 && !found.external ? found : { path, namespace: ABSENT };
      });
      build.onLoad({ filter: /.*/, namespace: ABSENT }, ({ path }) => ({ contents: notFound(path), loader: "js" }));
    },
  };
}

const ABSENT = "absent";
/** Marks a resolution that this plugin asked for itself. */
const OURS = Symbol("ours");

/** As Node says it, for those who look at the code. */
const notFound = (name: string): string =>
  `throw Object.assign(new Error(${JSON.stringify(`Cannot find module '${name}'`)}), { code: "MODULE_NOT_FOUND" });`;
