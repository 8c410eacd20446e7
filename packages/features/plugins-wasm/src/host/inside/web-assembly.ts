/** The engine's interface, https://webassembly.github.io/spec/js-api/, as far as it is used: TypeScript knows it in browsers only. */

/** Opaque. */
export type WasmModule = object;

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

type ErrorClass = new () => Error;

interface WebAssemblyInterface {
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WasmModule>;
  readonly CompileError: ErrorClass;
  readonly LinkError: ErrorClass;
}

export const { WebAssembly: engine } = globalThis as unknown as { readonly WebAssembly: WebAssemblyInterface };
