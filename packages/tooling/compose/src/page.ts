/**
 * The page that the gateway serves: sources → files and the list that `apps/svc/src/service/daemon/gateway.ts` reads, out of the
 * binary or, from sources, out of `apps/dashboard/dist`.
 */
import { SvcError } from "@svc/contract";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { inputsOfPage } from "./inputs.ts";
import { scratchDir } from "./scratch.ts";
import { slashed, writeIfChanged } from "./workspace.ts";

/** One line of page.json. */
export interface PageEntry {
  /** As a browser asks for it. */
  readonly path: string;
  /** Beside page.json. */
  readonly file: string;
  /** The same file gzipped; null: that would not be smaller. */
  readonly gzip: string | null;
  readonly type: string;
  /** Its name changes with its content. */
  readonly immutable: boolean;
}

export interface Page {
  /** Name in the binary → file. */
  readonly assets: Readonly<Record<string, string>>;
  readonly size: PageSize;
}

export interface PageSize {
  readonly files: number;
  readonly bytes: number;
  /** Script alone, as a browser fetches it. */
  readonly scriptGzipBytes: number;
  /**
   * What the first view waits for: script and style that index.html names, what these import, and the largest of the languages that a
   * browser may ask for.
   */
  readonly firstGzipBytes: number;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

const LIST = "page.json";

/**
 * Builds it unless that has been done: the files lie in a folder named after what they are made of.
 * @throws SvcError BUNDLE_FAILED
 */
export async function buildPage(root: string): Promise<Page> {
  const dist = join(root, "apps/dashboard/dist");
  const name = inputsOfPage(root).slice(0, 16);
  const files = join(dist, name);
  if (!exists(files)) await make(root, dist, files);
  const entries = listOf(files, name);
  // The list last, and by rename: it never names a file that is not there. What an older list named goes after it.
  writeIfChanged(join(dist, LIST), `${JSON.stringify(entries, null, 2)}\n`);
  sweep(dist, name);
  return pageOf(dist, entries);
}

async function make(root: string, dist: string, files: string): Promise<void> {
  const work = scratchDir(dist);
  try {
    await bundlePage(join(root, "apps/dashboard"), work);
    for (const file of filesIn(work)) compress(join(work, file));
    placeUnlessThere(work, files);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function bundlePage(dashboard: string, outDir: string): Promise<void> {
  // Loaded here: a page that is up to date never needs it.
  const { build } = await import("vite");
  try {
    await build({
      root: dashboard,
      configFile: join(dashboard, "vite.config.ts"),
      configLoader: "native",
      mode: "production",
      logLevel: "silent",
      build: { outDir, emptyOutDir: true },
    });
  } catch (error) {
    throw new SvcError("BUNDLE_FAILED", `The page can't be bundled.\n  ${(error as Error).message}`, {
      hint: "Correct the place above; after a change of dependencies run pnpm install.",
      cause: error,
    });
  }
}

/** The size of a scripted answer is what a browser waits for, and it is always the same: it is made once, here. */
function compress(file: string): void {
  const bytes = readFileSync(file);
  const gzip = gzipSync(bytes, { level: 9 });
  if (gzip.length < bytes.length) writeFileSync(`${file}.gz`, gzip);
}

/** Another build may have been quicker: its files are the same. */
function placeUnlessThere(work: string, files: string): void {
  try {
    renameSync(work, files);
  } catch (error) {
    if (!exists(files)) throw error;
  }
}

function listOf(files: string, name: string): PageEntry[] {
  const all = new Set(filesIn(files));
  return [...all]
    .filter((file) => !file.endsWith(".gz"))
    .map((file) => ({
      path: file === "index.html" ? "/" : `/${file}`,
      file: `${name}/${file}`,
      gzip: all.has(`${file}.gz`) ? `${name}/${file}.gz` : null,
      type: TYPES[extname(file)] ?? "application/octet-stream",
      immutable: file.startsWith("assets/"),
    }));
}

function pageOf(dist: string, entries: readonly PageEntry[]): Page {
  const files = entries.flatMap(({ file, gzip }) => (gzip === null ? [file] : [file, gzip]));
  const sizeOf = (file: string): number => statSync(join(dist, file)).size;
  const sum = (names: readonly string[]): number => names.reduce((bytes, file) => bytes + sizeOf(file), 0);
  const scripts = entries.filter(({ file }) => file.endsWith(".js")).map(({ file, gzip }) => gzip ?? file);
  const first = firstOf(entries, (file) => readFileSync(join(dist, file), "utf8"));
  const languages = entries.filter(({ path }) => path.startsWith("/assets/texts-"));
  const largest = Math.max(0, ...languages.map(({ file, gzip }) => sizeOf(gzip ?? file)));
  return {
    assets: Object.fromEntries([LIST, ...files].map((file) => [`page/${file}`, join(dist, file)])),
    size: {
      files: entries.length,
      bytes: sum(files),
      scriptGzipBytes: sum(scripts),
      firstGzipBytes: sum(first) + largest,
    },
  };
}

/** Files of the first view. What a script loads later it names in a call. */
function firstOf(entries: readonly PageEntry[], read: (file: string) => string): string[] {
  const html = read(entries.find(({ path }) => path === "/")!.file);
  const found = new Set(entries.filter(({ path }) => /\.(?:js|css)$/.test(path) && html.includes(path)));
  for (const { path, file } of found) {
    if (!path.endsWith(".js")) continue;
    const imported = [...read(file).matchAll(/\b(?:from|import) ?["'`]\.\/([\w.-]+\.js)["'`]/g)].map(
      ([, name]) => name,
    );
    for (const entry of entries) if (imported.some((name) => entry.path === `/assets/${name}`)) found.add(entry);
  }
  return [...found].map(({ file, gzip }) => gzip ?? file);
}

/** Folders of earlier builds. One that still runs has a name that begins with a dot. */
function sweep(dist: string, name: string): void {
  for (const other of readdirSync(dist)) {
    if (other !== name && /^[0-9a-f]{16}$/.test(other)) rmSync(join(dist, other), { recursive: true, force: true });
  }
}

/** Paths of all files below a folder, sorted. */
function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => slashed(dir, join(entry.parentPath, entry.name)))
    .sort();
}

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
