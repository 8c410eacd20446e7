/** What a module of a plugin gives and gets: https://extism.org/docs/concepts/pdk and the kernel's functions below it. */

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

/** Of a wasm file. */
export const MAX_MODULE_BYTES = 20_971_520;
