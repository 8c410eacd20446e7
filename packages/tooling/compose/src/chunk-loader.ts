/**
 * The main script of a binary: runs its chunks as ES modules, each with the code that V8 made of it at build time (code-cache.ts).
 * Node's own loader would look for each chunk through a virtual file system and compile it; docs/decisions/0017 has the numbers.
 */
import { devNull } from "node:os";
import { join, sep } from "node:path";
import { getAssetKeys, getRawAsset } from "node:sea";
import { pathToFileURL } from "node:url";
import { type Module, SourceTextModule } from "node:vm";

declare const ENTRY_CHUNK: string;
declare const CODE_CACHE_FOLDER: string;
declare const PACKED: { readonly asset: string; readonly index: string };

/** Where Node mounts the first virtual file system: no path of the machine begins with it, nor can one. */
const root = join(devNull, "vfs", "0");
const base = pathToFileURL(root + sep).href;
/** Chunks and their code lie in one asset, in the order in which a start reads them: by name → where it begins, and its length. */
const places = JSON.parse(assetBytes(PACKED.index).toString()) as Readonly<Record<string, readonly [number, number]>>;
const packed = assetBytes(PACKED.asset);
const assets = new Set([...Object.keys(places), ...getAssetKeys()]);
const modules = new Map<string, SourceTextModule>();
/** For `svc daemon --trace-start`. */
const loads: { name: string; at_ms: number; ms: number; precompiled: boolean }[] = [];
Object.defineProperty(globalThis, Symbol.for("svc.chunks"), { value: loads });
let isMounted = false;
/** V8 takes no code that was made under other flags, and the daemon changes one when it has started. */
let isCodeAccepted = true;

void importChunk(ENTRY_CHUNK);

async function importChunk(name: string): Promise<Module> {
  const chunk = linked(name);
  if (chunk.status === "unlinked") chunk.instantiate();
  // The module that asks may be in the middle of its own evaluation, and another evaluation would run inside it.
  await undefined;
  if (chunk.status === "linked") await chunk.evaluate();
  return chunk;
}

/** With all that it imports statically. */
function linked(name: string): SourceTextModule {
  const known = modules.get(name);
  if (known) return known;
  const beganAt = performance.now();
  const chunk = compiled(name);
  const endedAt = performance.now();
  loads.push({ name, at_ms: endedAt, ms: endedAt - beganAt, precompiled: takesCode(name) });
  modules.set(name, chunk);
  chunk.linkRequests(chunk.moduleRequests.map(({ specifier }) => linked(nameIn(specifier))));
  return chunk;
}

function compiled(name: string): SourceTextModule {
  const source = bytesOf(name).toString("utf8");
  if (takesCode(name)) {
    try {
      return moduleOf(name, source, bytesOf(codeOf(name)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_VM_MODULE_CACHED_DATA_REJECTED") throw error;
      isCodeAccepted = false;
    }
  }
  return moduleOf(name, source);
}

function takesCode(name: string): boolean {
  return isCodeAccepted && assets.has(codeOf(name));
}

function codeOf(name: string): string {
  return `${CODE_CACHE_FOLDER}/${name}`;
}

function moduleOf(name: string, source: string, cachedData?: Buffer): SourceTextModule {
  return new SourceTextModule(source, {
    identifier: base + name,
    ...(cachedData && { cachedData }),
    initializeImportMeta(meta) {
      meta.url = base + name;
      meta.filename = join(root, name);
      // Who asks for the folder reads files of it.
      Object.defineProperty(meta, "dirname", { get: mountedRoot });
    },
    // What is no chunk is a module of Node.
    importModuleDynamically: ((specifier: string) =>
      assets.has(nameIn(specifier)) ? importChunk(nameIn(specifier)) : import(specifier)) as never,
  });
}

/** The folder of the assets: addons are mapped from it, and libraries read their files there. Nothing is written to disk. */
function mountedRoot(): string {
  if (isMounted) return root;
  isMounted = true;
  const { create, MemoryProvider } = process.getBuiltinModule("node:vfs") as unknown as VfsModule;
  const mounted = create(assetsAsFiles(MemoryProvider)).mount();
  if (mounted !== root) throw new Error(`the assets are at ${mounted}`);
  return root;
}

/** Of Node's experimental module, which @types/node does not know. */
interface VfsModule {
  create(provider: VfsProvider): { mount(): string };
  readonly MemoryProvider: new () => VfsProvider;
}

interface VfsProvider {
  openSync(path: string, ...rest: unknown[]): unknown;
  statSync(path: string, ...rest: unknown[]): unknown;
  lstatSync(path: string, ...rest: unknown[]): unknown;
  realpathSync(path: string, ...rest: unknown[]): unknown;
  mkdirSync(path: string, options: { readonly recursive: boolean }): void;
  writeFileSync(path: string, content: Uint8Array): void;
}

/** An asset becomes a file when its path is first asked for: only then is it copied. */
function assetsAsFiles(MemoryProvider: VfsModule["MemoryProvider"]): VfsProvider {
  const files = new MemoryProvider();
  const copied = new Set<string>();
  const copy = (path: string): void => {
    const asset = path.replaceAll("\\", "/").replace(/^\/+/, "");
    if (copied.has(asset) || !assets.has(asset)) return;
    copied.add(asset);
    files.mkdirSync(`/${asset}`.replace(/\/[^/]*$/, "") || "/", { recursive: true });
    files.writeFileSync(`/${asset}`, bytesOf(asset));
  };
  for (const method of ["openSync", "statSync", "lstatSync", "realpathSync"] as const) {
    const own = files[method].bind(files);
    files[method] = (path, ...rest) => {
      copy(path);
      return own(path, ...rest);
    };
  }
  return files;
}

function bytesOf(asset: string): Buffer {
  const place = places[asset];
  return place ? packed.subarray(place[0], place[0] + place[1]) : assetBytes(asset);
}

function assetBytes(asset: string): Buffer {
  return Buffer.from(getRawAsset(asset) as ArrayBuffer);
}

/** `./chunk.js`, as esbuild writes it. */
function nameIn(specifier: string): string {
  return specifier.slice(2);
}
