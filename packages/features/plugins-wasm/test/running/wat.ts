/** Modules of plugins, written as text. */
import loadWabt from "wabt";

type Features = Parameters<Awaited<ReturnType<typeof loadWabt>>["parseWat"]>[2];

/** The binary of a module; `features`: those beyond the standard's, such as `{ threads: true }`. */
export async function wasmOf(text: string, features: Features = {}): Promise<Uint8Array> {
  const parsed = (await loadWabt()).parseWat("plugin.wat", text, features);
  try {
    // A copy: the buffer is wabt's own memory.
    return Uint8Array.from(parsed.toBinary({}).buffer);
  } finally {
    parsed.destroy();
  }
}

const IMPORTS: Readonly<Record<string, string>> = {
  alloc: "(param i64) (result i64)",
  length: "(param i64) (result i64)",
  free: "(param i64)",
  load_u8: "(param i64) (result i32)",
  store_u8: "(param i64 i32)",
  input_offset: "(result i64)",
  input_length: "(result i64)",
  input_load_u8: "(param i64) (result i32)",
  output_set: "(param i64 i64)",
  error_set: "(param i64)",
  config_get: "(param i64) (result i64)",
  var_get: "(param i64) (result i64)",
  var_set: "(param i64 i64)",
  http_request: "(param i64 i64) (result i64)",
  http_status_code: "(result i32)",
  http_headers: "(result i64)",
  log_info: "(param i64)",
};

/**
 * A plugin: the functions of the host by their names, a page of memory, `$text`, which copies bytes of it into a block of the
 * host, and `body` as what a call runs. `before`: what else the module has.
 */
export function pluginWat(body: string, { before = "", memory = "(memory 1)" } = {}): string {
  const imports = Object.entries(IMPORTS).map(
    ([name, type]) => `(import "extism:host/env" "${name}" (func $${name} ${type}))`,
  );
  return `(module
    ${imports.join("\n    ")}
    ${memory}
    (func $text (param $at i32) (param $size i32) (result i64)
      (local $block i64) (local $i i32)
      (local.set $block (call $alloc (i64.extend_i32_u (local.get $size))))
      (loop $next
        (if (i32.lt_u (local.get $i) (local.get $size)) (then
          (call $store_u8
            (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
            (i32.load8_u (i32.add (local.get $at) (local.get $i))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next))))
      (local.get $block))
    ${before}
    (func (export "run") ${body}))`;
}

/** `(call $text …)` of a text that the module holds at `at`, and the data that puts it there. */
export function text(at: number, value: string): { readonly data: string; readonly call: string } {
  const bytes = Buffer.from(value);
  const escaped = [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
  return {
    data: `(data (i32.const ${at}) "${escaped}")`,
    call: `(call $text (i32.const ${at}) (i32.const ${bytes.byteLength}))`,
  };
}

/** Gives back what it was given. */
export const ECHO = pluginWat("(call $output_set (call $input_offset) (call $input_length))");
