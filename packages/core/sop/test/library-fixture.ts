/** Shared by the tests of the library: a workspace with a folder of procedures, and what is loaded of it. */
import { mkdirSync, writeFileSync } from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type CapturedLogger, captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach } from "vitest";
import { createLibrary } from "../src/library/library.ts";
import type { ExecutionMode, SopLibrary } from "../src/library/types.ts";

export const STEPS = "## Steps\n\n1. **Look** — at it\n";
export const toml = (path = "/x", more = ""): string =>
  `[sop]\n${more}\n[[triggers]]\ntype = "webhook"\npath = "${path}"\n`;

export const clock = fakeClock();
export let home: TemporaryHome;
export let library: SopLibrary;
export let log: CapturedLogger;
/** How often a change was told. */
export let told: number;
/** What the configuration says. */
export let config: { folder: string; mode: ExecutionMode; reserved: string[] };

/** Called by the file whose tests want one each. */
export function libraryForEachTest(): void {
  beforeEach(() => {
    home = temporaryHome();
    config = { folder: join(home.path, "sops"), mode: "supervised", reserved: [] };
    log = captureLogger();
    told = 0;
    const folder = (): string => config.folder;
    library = createLibrary({ clock, log, folder, defaultMode: () => config.mode, reserved: () => config.reserved });
    library.onChange(() => (told += 1));
  });
  afterEach(() => {
    library.stop();
    home.remove();
  });
}

/** A place in the folder of procedures. */
export const at = (path: string): string => join(config.folder, path);

export function write(name: string, files: { toml?: string; md?: string } = {}): void {
  mkdirSync(at(name), { recursive: true });
  writeFileSync(at(`${name}/SOP.toml`), files.toml ?? toml());
  writeFileSync(at(`${name}/SOP.md`), files.md ?? STEPS);
}

export const names = (): string[] => library.list().map(({ definition }) => definition.name);

/** The file system as somebody else makes it look, until the end of the block. */
export function patched(calls: Partial<typeof fsp>): Disposable {
  const before = { ...fsp };
  Object.assign(fsp, calls);
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      Object.assign(fsp, before);
      syncBuiltinESMExports();
    },
  };
}
