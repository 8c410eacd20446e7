/** A feature's package on disk, for suites that read its manifest and import its entry in a fresh process. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface PackageText {
  readonly id: string;
  readonly name?: string;
  readonly manifest?: Readonly<Record<string, unknown>> | null;
  /** Body of `create(context)`. */
  readonly create?: string;
  /** Top of the module that is loaded. */
  readonly imports?: string;
  /** Top of the entry, beside the definition. */
  readonly entry?: string;
}

/** Writes it below `parent`; returns the package's folder. */
export function writePackage(parent: string, text: PackageText): string {
  const root = join(parent, text.id);
  mkdirSync(join(root, "src"), { recursive: true });
  const manifest = text.manifest === null ? {} : { svc: { kind: "feature", summary: "A fake.", ...text.manifest } };
  const files = {
    "package.json": JSON.stringify({ name: text.name ?? `@svc/${text.id}`, type: "module", ...manifest }),
    "src/index.ts": `${text.entry ?? ""}
      export default Object.freeze({ id: ${JSON.stringify(text.id)}, load: () => import("./feature.ts") });`,
    "src/feature.ts": `${text.imports ?? ""}
      export function create(context) { ${text.create ?? "return {};"} }`,
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content);
  return root;
}
