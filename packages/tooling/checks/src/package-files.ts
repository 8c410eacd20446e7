/** The workspace's packages as their package.json files describe them. */
import type { Workspace } from "./workspace.ts";

export interface PackageFile {
  /** Folder from the root, e.g. `packages/core/kit`. */
  readonly folder: string;
  /** Path of its package.json. */
  readonly file: string;
  readonly name: string;
  readonly dependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
  /** The whole parsed file. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Every package below the root, not the root itself. */
export function packagesOf(workspace: Workspace): PackageFile[] {
  return [...workspace.files]
    .filter(([file]) => /^(?:apps\/[^/]+|packages\/[^/]+\/[^/]+|bench)\/package\.json$/.test(file))
    .map(([file, text]) => packageOf(file, text));
}

/** Names that the root installs for all: test runner, types, command-line tools. */
export function rootTools(workspace: Workspace): ReadonlySet<string> {
  const text = workspace.files.get("package.json");
  return text === undefined ? new Set() : packageOf("package.json", text).devDependencies;
}

/** `@scope/name/sub` → `@scope/name`. */
export const packageName = (specifier: string): string =>
  specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

/** Line of the first occurrence of `needle` in a text, from 1. */
export function lineWith(text: string, needle: string): number {
  const at = text.indexOf(needle);
  return at < 0 ? 1 : text.slice(0, at).split("\n").length;
}

function packageOf(file: string, text: string): PackageFile {
  const json = JSON.parse(text) as Record<string, unknown>;
  const names = (key: string): string[] => Object.keys((json[key] as Record<string, string> | undefined) ?? {});
  return {
    file,
    folder: file.slice(0, Math.max(0, file.lastIndexOf("/"))),
    name: String(json["name"] ?? ""),
    dependencies: new Set([...names("dependencies"), ...names("optionalDependencies"), ...names("peerDependencies")]),
    devDependencies: new Set(names("devDependencies")),
    json,
  };
}
