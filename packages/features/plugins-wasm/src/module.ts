/**
 * Whether a wasm file is a module that may run here: asked when it is installed, and each time before a process gets it.
 * Nothing of it is compiled, so that a hostile one meets no engine outside of the process that is made for it.
 */
import { SvcError } from "@svc/contract";

/** Throws PLUGIN_INVALID with the fault. `memoryMb`: the memory limit of the plugin's manifest. */
export function checkModule(bytes: Uint8Array, { memoryMb }: { readonly memoryMb: number }): void {
  if (bytes.byteLength > MAX_MODULE_BYTES) {
    throw invalid(`The module is larger than ${MAX_MODULE_BYTES / 1_048_576} MiB.`);
  }
  const { imports, functions, memories, tables } = outsideOf(bytes);
  for (const each of imports) checkImport(each);
  if (!functions.has(ENTRY_POINT)) {
    throw invalid(
      `The module exports no function ${ENTRY_POINT}.`,
      `Export a function ${ENTRY_POINT} without parameters, which a call runs.`,
    );
  }
  if (memories.length > 1) throw invalid("The module has more than one memory.");
  if (tables > MAX_TABLES) throw invalid(`The module has more than ${MAX_TABLES} tables.`);
  for (const { isUnusual, minimum } of memories) {
    if (isUnusual) throw invalid("The module's memory is shared or of 64 bits, which plugins can't have.");
    if (minimum * PAGE_BYTES > memoryMb * 1_048_576) {
      throw invalid(
        `The module begins with more memory than the ${memoryMb} MiB it may have.`,
        "Build it with less memory to begin with, or ask for more in the manifest's limits.",
      );
    }
  }
}

/** More than any compiler makes; each may become large. */
const MAX_TABLES = 16;

function outsideOf(bytes: Uint8Array): ModuleOutside {
  try {
    return readOutside(bytes);
  } catch (error) {
    if (error instanceof MalformedModule) throw invalid("The file is no WebAssembly module, or is cut off.");
    throw error;
  }
}

function checkImport({ module, name, kind }: ModuleImport): void {
  if (kind === "memory") throw invalid("The module imports its memory; it must have its own.");
  if (kind === "function") {
    if (module === HOST_MODULE && HOST_FUNCTIONS.has(name)) return;
    if (module === ABORT.module && name === ABORT.name) return;
  }
  if (module.startsWith("wasi")) {
    throw invalid(
      "The module imports WASI: files, the environment and the clock, which plugins don't have.",
      "Build it for a target without WASI, such as wasm32-unknown-unknown.",
    );
  }
  const what = /^[\w.:/-]{1,64}$/.test(`${module}.${name}`) ? `${module}.${name}` : "something";
  throw invalid(
    `The module imports ${what}, which the host does not give.`,
    `A plugin may import the functions of ${HOST_MODULE}, and ${ABORT.module}.${ABORT.name}.`,
  );
}

const invalid = (message: string, hint?: string): SvcError =>
  new SvcError("PLUGIN_INVALID", message, hint === undefined ? {} : { hint });

/** What a module asks for and offers, read without compiling a line of it. */
interface ModuleOutside {
  readonly imports: readonly ModuleImport[];
  /** Names of exported functions. */
  readonly functions: ReadonlySet<string>;
  /** Its own; those it imports are among the imports. */
  readonly memories: readonly ModuleMemory[];
  readonly tables: number;
}

interface ModuleImport {
  readonly module: string;
  readonly name: string;
  readonly kind: "function" | "table" | "memory" | "global" | "tag";
}

export interface ModuleMemory {
  /** Pages it begins with. */
  readonly minimum: number;
  /** Shared between threads, addressed by 64 bits, or with pages of another size. */
  readonly isUnusual: boolean;
}

/** Throws MalformedModule. The engine validates function bodies. */
function readOutside(bytes: Uint8Array): ModuleOutside {
  const reader = new BinaryReader(bytes);
  if (!isDeepEqual(reader.take(8), MAGIC_AND_VERSION)) throw new MalformedModule();
  const imports: ModuleImport[] = [];
  const functions = new Set<string>();
  const memories: ModuleMemory[] = [];
  let tables = 0;
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const section = reader.part(reader.u32());
    if (id === SECTION.import) imports.push(...list(section, importOf));
    else if (id === SECTION.memory) memories.push(...list(section, memoryOf));
    else if (id === SECTION.table) tables += section.u32();
    else if (id === SECTION.export)
      for (const name of list(section, functionOf)) if (name !== undefined) functions.add(name);
  }
  return { imports, functions, memories, tables };
}

const MAGIC_AND_VERSION = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);
const SECTION = { import: 2, table: 4, memory: 5, export: 7 } as const;

const isDeepEqual = (one: Uint8Array, other: Uint8Array): boolean => one.every((byte, at) => byte === other[at]);

/** A section that is longer than its list is as malformed as one that is shorter. */
function list<Item>(section: BinaryReader, item: (section: BinaryReader) => Item): Item[] {
  const items: Item[] = [];
  for (let left = section.u32(); left > 0; left -= 1) items.push(item(section));
  if (!section.isAtEnd) throw new MalformedModule();
  return items;
}

function importOf(section: BinaryReader): ModuleImport {
  const [module, name] = [section.name(), section.name()];
  switch (section.byte()) {
    case 0x00:
      section.u32();
      return { module, name, kind: "function" };
    case 0x01:
      referenceType(section);
      limits(section);
      return { module, name, kind: "table" };
    case 0x02:
      limits(section);
      return { module, name, kind: "memory" };
    case 0x03:
      valueType(section);
      section.byte();
      return { module, name, kind: "global" };
    case 0x04:
      section.byte();
      section.u32();
      return { module, name, kind: "tag" };
    default:
      throw new MalformedModule();
  }
}

function memoryOf(section: BinaryReader): ModuleMemory {
  const { flags, minimum } = limits(section);
  return { minimum, isUnusual: flags > 1 };
}

function functionOf(section: BinaryReader): string | undefined {
  const name = section.name();
  const kind = section.byte();
  section.u32();
  return kind === 0x00 ? name : undefined;
}

/** Bits of the flags: there is a maximum, it is shared, its addresses have 64 bits, it tells its page size. */
function limits(section: BinaryReader): { flags: number; minimum: number } {
  const flags = section.byte();
  if (flags > 0x0f) throw new MalformedModule();
  const minimum = section.u32();
  if (flags & 0x01) section.u32();
  if (flags & 0x08) section.u32();
  return { flags, minimum };
}

/** `(ref ht)` and `(ref null ht)` tell their heap type, all others are one byte. */
function referenceType(section: BinaryReader): void {
  const first = section.byte();
  if (first === 0x63 || first === 0x64) section.u32();
}

const valueType = referenceType;

/**
 * Reads the binary format of WebAssembly, https://webassembly.github.io/spec/core/binary/, as far as a module's outside goes.
 */
class BinaryReader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.byteLength) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  byte(): number {
    if (this.#at >= this.#end) throw new MalformedModule();
    return this.#bytes[this.#at++] as number;
  }

  /** LEB128, at most five bytes. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (value > 0xffff_ffff) throw new MalformedModule();
        return value;
      }
    }
    throw new MalformedModule();
  }

  name(): string {
    const bytes = this.take(this.u32());
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new MalformedModule();
    }
  }

  take(length: number): Uint8Array {
    if (length > this.#end - this.#at) throw new MalformedModule();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** A reader of the next `length` bytes, which this one is beyond then. */
  part(length: number): BinaryReader {
    const part = this.take(length);
    return new BinaryReader(part);
  }
}

/** The bytes are no module. */
class MalformedModule extends Error {}

// What a module of a plugin gives and gets: https://extism.org/docs/concepts/pdk and the kernel's functions below it.

/** The function that a call runs: without parameters, and with no result or 0 where it went well. */
export const ENTRY_POINT = "run";

/** Where the functions of the host are imported from. */
export const HOST_MODULE = "extism:host/env";

/** Everything of `HOST_MODULE` that there is here, those of later releases of the kernel among them. */
export const HOST_FUNCTIONS: ReadonlySet<string> = new Set([
  "alloc",
  "free",
  "length",
  "length_unsafe",
  "load_u8",
  "load_u64",
  "store_u8",
  "store_u64",
  "input_offset",
  "input_length",
  "input_load_u8",
  "input_load_u64",
  "output_set",
  "error_set",
  "config_get",
  "var_get",
  "var_set",
  "http_request",
  "http_status_code",
  "http_headers",
  "get_log_level",
  "log_trace",
  "log_debug",
  "log_info",
  "log_warn",
  "log_error",
]);

/** AssemblyScript's modules call it where something can't go on: https://www.assemblyscript.org/concepts.html#special-imports */
export const ABORT = { module: "env", name: "abort" } as const;

export const PAGE_BYTES = 65_536;

/** Size limit of a wasm file. */
export const MAX_MODULE_BYTES = 20_971_520;
