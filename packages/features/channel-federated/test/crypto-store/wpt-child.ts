// Runs one web-platform test in this process, on fake-indexeddb alone or on the crypto store: wpt-child.ts <plain|store> <file>.
// The test's environment (wpt-env.js of the folder) prints a line for each result.
import { mkdtempSync } from "node:fs";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openCryptoStore } from "../../src/crypto-store/crypto-store.ts";

const [, , kind, file = ""] = process.argv;
const library = join(dirname(fileURLToPath(import.meta.resolve("fake-indexeddb"))), "..", "..");

// The environment imports the library by paths of its own checkout.
registerHooks({
  resolve: (specifier, context, next) => {
    const inside = /(?:\.\.\/)+((?:auto|build)\/.*)$/.exec(specifier)?.[1];
    if (inside === "auto/index.mjs" && kind === "store") return { url: "node:path", shortCircuit: true };
    if (inside !== undefined && /web-platform-tests/.test(context.parentURL ?? "")) {
      return { url: pathToFileURL(join(library, inside)).href, shortCircuit: true };
    }
    return next(specifier, context);
  },
});

if (kind === "store") {
  const folder = mkdtempSync(join(process.env["SVC_WPT_SCRATCH"] ?? tmpdir(), "wpt-"));
  const store = await openCryptoStore({
    path: join(folder, "crypto.db"),
    key: new Uint8Array(32).fill(7),
    create: true,
  });
  store.install();
}
await import(pathToFileURL(file).href);
