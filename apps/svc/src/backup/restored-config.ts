/** The config of a backup, loaded where it was unpacked: as this build and this environment would find it in its place. */
import { join } from "node:path";
import type { Composition } from "@svc/contract";
import { type Home, type LoadedConfig, homeOf, loadConfig } from "@svc/config";
import { CONFIG, KEY } from "./manifest.ts";
import type { RestoredFiles } from "./restored-files.ts";

/** Undefined when the backup has none. Throws what loading a config throws. */
export async function restoredConfig(
  home: Home,
  { folder, manifest }: Pick<RestoredFiles, "folder" | "manifest">,
  build: Pick<Composition, "features" | "catalogue">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig | undefined> {
  const has = (path: string): boolean => manifest.files.some((file) => file.path === path);
  if (!has(CONFIG)) return undefined;
  const restored = homeOf({ SVC_HOME: join(home.root, folder) });
  const secretKey = has(KEY) ? restored.secretKey : home.secretKey;
  return loadConfig({ home: { ...restored, secretKey }, env, features: build.features, catalogue: build.catalogue });
}
