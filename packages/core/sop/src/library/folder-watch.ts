/**
 * Tells when something changes in the folders of procedures. Each folder is watched by itself: to watch a tree as a whole,
 * Node walks through it on Linux, and misses what is written to a folder while it is being found. It is only a reason to
 * look soon; where nothing is told (a full inotify table, a network's file system) the next look comes by itself.
 */
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import type { Logger } from "@svc/contract";
import { SOP_MD, SOP_TOML } from "./file-names.ts";

export interface FolderWatch {
  /** From now on these, and no others. */
  follow(folder: string, names: readonly string[]): void;
  stop(): void;
}

const FILES: ReadonlySet<string> = new Set([SOP_TOML, SOP_MD]);

export function watchFolders(changed: () => void, log: Logger): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let isRefused = false;
  let saidRefused = false;

  /** Also what is below: it may be another folder of the same name by now. */
  const drop = (path: string): void => {
    for (const [one, watcher] of watchers) {
      if (one !== path && !one.startsWith(path + sep)) continue;
      watcher.close();
      watchers.delete(one);
    }
  };
  const refused = (code: string | undefined): void => {
    isRefused = true;
    if (!saidRefused) log.warn("changes of procedures are seen only every 30 s: the system watches no more", { code });
    saidRefused = true;
  };
  const open = (path: string, matters: (name: string) => boolean): void => {
    if (watchers.has(path) || isRefused) return;
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        if (name !== null && !matters(name)) return;
        if (name !== null && !FILES.has(name)) drop(join(path, name));
        changed();
      });
      watcher.on("error", () => drop(path));
      watchers.set(path, watcher);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") refused(code);
    }
  };
  return {
    follow(folder, names) {
      const parent = dirname(folder);
      const wanted = new Set([parent, folder, ...names.map((name) => join(folder, name))]);
      for (const path of watchers.keys()) if (!wanted.has(path)) drop(path);
      isRefused = false;
      open(parent, (name) => name === basename(folder));
      open(folder, () => true);
      for (const name of names) open(join(folder, name), (file) => FILES.has(file));
    },
    stop() {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}
