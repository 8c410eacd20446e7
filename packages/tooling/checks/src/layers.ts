/**
 * The layers of this repository. `docs/architecture.md` has the same table for people, and a check compares the two. The
 * order is the drawing's: a layer may import layers above it, and only those it names.
 */
export interface Layer {
  readonly name: string;
  /** Its folder; `*` stands for one name, and then siblings are layers of their own. */
  readonly folder: string;
  /** Layers whose packages it may import. Its own name: siblings may import each other. */
  readonly imports: readonly string[];
  /** Outside packages that no other layer may import, as prefixes. */
  readonly owns?: readonly string[];
  /** Outside packages and built-in modules it may not import, as prefixes. */
  readonly never?: readonly string[];
}

const CORE = ["contract", "api", "kit", "config", "runtime", "store", "agent", "messaging", "sop", "gateway"];

export const LAYERS: readonly Layer[] = [
  { name: "contract", folder: "packages/core/contract", imports: [], never: ["node:"] },
  { name: "api", folder: "packages/core/api", imports: ["contract"], never: ["node:"] },
  { name: "kit", folder: "packages/core/kit", imports: ["contract"] },
  { name: "config", folder: "packages/core/config", imports: ["contract", "kit"] },
  { name: "runtime", folder: "packages/core/runtime", imports: ["contract", "kit", "config"] },
  { name: "store", folder: "packages/core/store", imports: ["contract"] },
  { name: "agent", folder: "packages/core/agent", imports: ["contract", "api", "kit", "config", "runtime", "store"] },
  {
    name: "messaging",
    folder: "packages/core/messaging",
    imports: ["contract", "api", "kit", "config", "runtime", "store", "agent"],
  },
  { name: "sop", folder: "packages/core/sop", imports: ["contract", "api", "kit", "config", "runtime", "store"] },
  {
    name: "gateway",
    folder: "packages/core/gateway",
    imports: ["contract", "api", "kit", "config", "runtime", "store", "agent", "messaging", "sop"],
    owns: ["hono", "@hono/"],
  },
  { name: "features", folder: "packages/features/*", imports: ["contract", "kit"] },
  { name: "app", folder: "apps/svc", imports: CORE },
  // It depends only on the HTTP API: another page could replace it.
  { name: "dashboard", folder: "apps/dashboard", imports: ["api", "kit"], never: ["node:"] },
  { name: "tooling", folder: "packages/tooling/*", imports: [...CORE, "tooling"] },
  { name: "bench", folder: "bench", imports: [...CORE, "features", "tooling"] },
];

/** Layers outside of the binary: they measure and test, so they may import what a layer owns. */
export const OUTSIDE: ReadonlySet<string> = new Set(["tooling", "bench"]);

/** The layer a file or folder is in. */
export function layerOf(path: string): Layer | undefined {
  return LAYERS.find(({ folder }) => {
    const wanted = folder.split("/");
    const actual = path.split("/");
    return wanted.every((part, index) => (part === "*" ? actual[index] !== undefined : part === actual[index]));
  });
}
