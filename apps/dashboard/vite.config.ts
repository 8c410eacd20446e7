/**
 * Sources → what the gateway serves. Its content security policy allows nothing inline, so nothing is: no preload shim, no
 * style, no data: picture.
 */
import type { UserConfig } from "vite";

const config: UserConfig = {
  // Where `pnpm build` takes it from; for a look at the output alone.
  build: {
    outDir: "dist/alone",
    target: "es2023",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { page: "index.html" },
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        // The size of the first view counts one of them.
        chunkFileNames: ({ facadeModuleId }) => {
          const texts = /\/src\/texts\/(settings\/)?/.exec(facadeModuleId ?? "");
          if (texts === null) return "assets/[name]-[hash].js";
          return `assets/${texts[1] === undefined ? "texts" : "setting-texts"}-[name]-[hash].js`;
        },
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
};

export default config;
