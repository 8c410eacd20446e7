/**
 * Whether a wasm file is a module that may run here: asked when it is installed, and each time before a process gets it.
 * Nothing of it is compiled, so that a hostile one meets no engine outside of the process that is made for it.
 */
import { SvcError } from "@svc/contract";
import { ABORT, ENTRY_POINT, HOST_FUNCTIONS, HOST_MODULE, MAX_MODULE_BYTES, PAGE_BYTES } from "./abi.ts";
import { MalformedModule } from "./binary-reader.ts";
import { type ModuleImport, type ModuleOutside, readOutside } from "./outside.ts";

/** Throws PLUGIN_INVALID, saying what is wrong. `memoryMb`: what the plugin's manifest gives its memory. */
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
