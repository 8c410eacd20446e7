/**
 * What a process of the binary evaluated: V8 lists every script when it ends, and build.json says what each chunk holds. It
 * must end by itself, which a SIGTERM lets it; a kill leaves no list.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { binaryPath } from "./spawn-binary.ts";

export interface Evaluated {
  /** Ids of features that were loaded. */
  readonly features: ReadonlySet<string>;
  /** Names of npm packages whose code was evaluated. */
  readonly packages: ReadonlySet<string>;
  /** Of the chunks, in bytes of the bundle. */
  readonly bytes: number;
}

/** For the environment of the process: where it leaves its list. */
export const evaluatedInto = (folder: string): Readonly<Record<string, string>> => ({ NODE_V8_COVERAGE: folder });

export function readEvaluated(folder: string, binary: string = binaryPath()): Evaluated {
  const { chunks } = JSON.parse(readFileSync(join(dirname(binary), "build.json"), "utf8")) as {
    readonly chunks: Readonly<Record<string, { bytes: number; feature: string | null; packages: string[] }>>;
  };
  const scripts = readdirSync(folder).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { result: { url: string }[] };
    return result.map(({ url }) => basename(url));
  });
  const found = [...new Set(scripts)].flatMap((name) => (Object.hasOwn(chunks, name) ? [chunks[name]!] : []));
  if (found.length === 0) throw new Error("the process left no list of what it evaluated");
  return {
    features: new Set(found.flatMap(({ feature }) => feature ?? [])),
    packages: new Set(found.flatMap(({ packages }) => packages)),
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
