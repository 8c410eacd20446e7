/**
 * The proof, from the bundler's own account, that a bundle is exactly what the profile says. A build step: a binary that
 * can't be proved is not made.
 */
import { SvcError } from "@svc/contract";
import { isBuiltin } from "node:module";
import { unmarked } from "./builtin-imports.ts";
import { ENTRY_CHUNK, type Bundle } from "./bundle.ts";
import { importChain } from "./import-chain.ts";
import { ownerOf, packageJsonOf, type Owner } from "./owner.ts";
import type { Selection } from "./select.ts";

export interface Proof {
  /** Ids of the features found in the bundle. */
  readonly features: readonly string[];
  /** Folders below packages/core found in the bundle. */
  readonly core: readonly string[];
  /** Bytes evaluated before a command is chosen: the entry chunk and all it imports statically. */
  readonly entryBytes: number;
}

/** Libraries that cost milliseconds to evaluate: `--version` must not pay for them. */
/** Only their default export is used. */
const USED_BY_DEFAULT: ReadonlySet<string> = new Set(["fastest-levenshtein"]);
const HEAVY = /^(hono|ai|valibot|undici|zod|@hono\/.*|@ai-sdk\/.*|@valibot\/.*)$/;

/** @throws SvcError BUNDLE_UNPROVEN, every violation with the imports that lead to it. */
export function prove(root: string, selection: Selection, { metafile }: Bundle): Proof {
  const externals = selection.features.filter(({ external }) => external);
  const owner = (input: string): Owner => ownerOf(root, externals, input);
  const inputs = Object.keys(metafile.inputs);
  const wanted = new Set(selection.features.map(({ manifest }) => manifest.id));
  const found = new Set<string>();
  const core = new Set<string>();
  const problems: string[] = [];
  const blame = (input: string, why: string, lazily = true): void => {
    problems.push(`${why}: ${importChain(metafile, input, lazily).join(" → ")}`);
  };

  for (const input of inputs) {
    const whose = owner(input);
    if (whose.kind === "core") core.add(whose.name);
    if (whose.kind === "feature" || whose.kind === "external") {
      if (wanted.has(whose.name)) found.add(whose.name);
      else blame(input, `${whose.name} is not in the profile`);
    }
    if (whose.kind !== "npm") namesLost(input);
    if (whose.kind === "tooling") blame(input, `${whose.name} is tooling and belongs in no binary`);
    if (whose.kind === "foreign") blame(input, "a file of no package");
    if (whose.kind !== "npm" && /(^|\/)tests?\/|\.test\.[cm]?[jt]sx?$/.test(input)) blame(input, "test code");
    if (whose.kind !== "npm" && whose.kind !== "foreign") undeclared(input, whose.kind === "external");
  }
  for (const id of wanted) if (!found.has(id)) problems.push(`${id} is in the profile and nothing of it in the bundle`);

  /** `import()` of a CommonJS package gives `default` and nothing else once it is bundled, whatever Node makes of it. */
  function namesLost(input: string): void {
    for (const { path, kind } of metafile.inputs[input]?.imports ?? []) {
      const imported = owner(path);
      if (kind !== "dynamic-import" || imported.kind !== "npm" || metafile.inputs[path]?.format !== "cjs") continue;
      if (!USED_BY_DEFAULT.has(imported.name))
        blame(path, `${imported.name} is CommonJS: import it statically in a module that is loaded late`);
    }
  }

  /** A workspace file may import only what its package.json gives to those who run it, not what its tests use. */
  function undeclared(input: string, external: boolean): void {
    const { dependencies, optionalDependencies, peerDependencies, name } = packageJsonOf(root, input);
    const declared = { ...dependencies, ...optionalDependencies, ...peerDependencies };
    for (const { path } of metafile.inputs[input]?.imports ?? []) {
      const imported = owner(path);
      if (imported.kind !== "npm" || imported.name in declared || imported.name === name) continue;
      if (external && imported.name === "valibot") continue;
      blame(path, `${imported.name} is not in the dependencies of ${name ?? "its importer"}`);
    }
  }

  let entryBytes = 0;
  const entry = Object.keys(metafile.outputs).find((path) => path.split("/").at(-1) === ENTRY_CHUNK) ?? "";
  for (const chunk of staticClosure(metafile, entry)) {
    const output = metafile.outputs[chunk];
    entryBytes += output?.bytes ?? 0;
    for (const [input, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
      const whose = owner(input);
      const heavy = whose.kind === "npm" && HEAVY.test(whose.name);
      const feature = whose.kind === "feature" || whose.kind === "external" || input.endsWith("/features.ts");
      if (bytesInOutput > 0 && (heavy || (feature && whose.kind !== "app"))) {
        blame(
          input,
          `${whose.kind === "npm" ? whose.name : "a feature"} is evaluated before --version can answer`,
          false,
        );
      }
    }
  }

  for (const { imports } of Object.values(metafile.outputs)) {
    for (const { path, external } of imports) {
      if (external === true && !isBuiltin(unmarked(path)))
        problems.push(`"${path}" is imported but is not in the bundle`);
    }
  }

  if (problems.length > 0) {
    const unique = [...new Set(problems)];
    throw new SvcError(
      "BUNDLE_UNPROVEN",
      `The bundle of ${selection.name} is not what it says.\n  ${unique.join("\n  ")}`,
      {
        hint: "Cut the import that each line ends with, or add the package to the profile.",
      },
    );
  }
  return { features: [...found].sort(), core: [...core].sort(), entryBytes };
}

/** A chunk and all that it imports statically, as the metafile names them. */
export function staticClosure(metafile: Bundle["metafile"], entry: string): string[] {
  const seen = new Set([entry]);
  for (const chunk of seen) {
    for (const { path, kind, external } of metafile.outputs[chunk]?.imports ?? []) {
      if (kind !== "dynamic-import" && external !== true) seen.add(path);
    }
  }
  return [...seen];
}
