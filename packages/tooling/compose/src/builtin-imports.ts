/**
 * `import` of a module of Node reads all of its exports, also those that Node loads only when they are read: `node:http` exports
 * `WebSocket`, and with it comes an HTTP client of 80 modules. In a binary a chunk reads the exports that it uses, and no others.
 */
import { isBuiltin } from "node:module";
import type { Plugin } from "esbuild";

/** Marks each import of a module of Node, so that `readBuiltins` finds them and nothing that only looks like one. */
export function builtinImports(): Plugin {
  return {
    name: "svc-builtin-imports",
    setup(build) {
      build.onResolve({ filter: /^(node:)?[\w/]+$/ }, ({ path, kind }) =>
        kind === "import-statement" && isBuiltin(path)
          ? { path: `${MARK}${path.startsWith("node:") ? path : `node:${path}`}`, external: true }
          : undefined,
      );
    },
  };
}

const MARK = "builtin:";

/** The specifier of an import in the bundler's record, without the mark. */
export const unmarked = (path: string): string => (path.startsWith(MARK) ? path.slice(MARK.length) : path);

/** A chunk's text with each marked import replaced by a read of what it names. Throws for one of a form that it does not know. */
export function readBuiltins(text: string): string {
  const reads: string[] = [];
  const rest = text.replaceAll(IMPORT, (_all, clause: string | undefined, name: string) => {
    if (clause !== undefined) reads.push(`var ${bindings(clause.trim(), name)};`);
    return "";
  });
  if (rest.includes(`"${MARK}node:`))
    throw new Error("the bundler writes an import that builtin-imports.ts does not know");
  return reads.length === 0 ? rest : reads.join("") + rest;
}

const IMPORT = /\bimport(?:(\s*(?:\*\s*as\s+)?[\w$]*\s*,?\s*(?:\{[^}"']*\})?\s*)from\s*|\s*)"builtin:([^"]+)";?\n?/g;

/** `a`, `*as a`, `{a,b as c}` or `a,{b}` → declarations. `globalThis`: a chunk may have a `process` of its own. */
function bindings(clause: string, name: string): string {
  const builtin = `globalThis.process.getBuiltinModule(${JSON.stringify(name)})`;
  const [, whole, named] = /^(?:\*\s*as\s+)?([\w$]+)?\s*,?\s*(\{.*\})?$/s.exec(clause) ?? [];
  const parts: string[] = [];
  if (whole !== undefined) parts.push(`${whole}=${builtin}`);
  const names = (named ?? "{}")
    .slice(1, -1)
    .split(",")
    .filter((each) => each.trim() !== "");
  const taken: string[] = [];
  for (const each of names) {
    const [exported = "", local = exported] = each.trim().split(/\s+as\s+/);
    if (exported === "default") parts.push(`${local}=${builtin}`);
    else taken.push(local === exported ? exported : `${exported}:${local}`);
  }
  if (taken.length > 0) parts.push(`{${taken.join(",")}}=${builtin}`);
  if (parts.length === 0)
    throw new Error(`the bundler writes an import that builtin-imports.ts does not know: ${clause}`);
  return parts.join(",");
}
