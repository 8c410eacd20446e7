/**
 * `svc __plugin-check <file>`: whether the file is a WebAssembly module that the engine takes. A separate process, because a small
 * module can keep the engine busy for minutes, and nothing in the same process can end that.
 */
import { readFile } from "node:fs/promises";

/** Exit codes. */
export const CHECKED = { valid: 0, invalid: 65 } as const;

export async function run([file = ""]: readonly string[]): Promise<number> {
  return engine.validate(await readFile(file)) ? CHECKED.valid : CHECKED.invalid;
}

/** TypeScript has it among the types of a browser only. */
const { WebAssembly: engine } = globalThis as unknown as {
  readonly WebAssembly: { validate(bytes: Uint8Array): boolean };
};
