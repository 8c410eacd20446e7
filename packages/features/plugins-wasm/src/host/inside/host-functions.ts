/**
 * The functions of the host that Extism 1.0.3 has without bounds, without a service behind them, or not at all: memory, output,
 * variables, log, HTTP. The others that a plugin is given are Extism's own. One set is for one call.
 */
import type { CallContext } from "@extism/extism";
import { MAX_FAILURE_BYTES, MAX_LOG_LINE_BYTES, MAX_LOG_LINES, type ProcessLimits } from "../frames.ts";
import { ABORT, HOST_MODULE } from "../module/abi.ts";
import { bytesAt, HostMemory, textAt } from "./host-memory.ts";
import { HostStop } from "./host-stop.ts";
import { httpFunctions } from "./http-functions.ts";
import { send } from "./service-pipe.ts";

/** What the plugin has said of its call. */
export interface Said {
  /** Reads what it has set as its output, as that is then. */
  output?: () => Uint8Array;
  error?: Uint8Array;
}

export type HostFunctions = Record<string, Record<string, (context: CallContext, ...args: any[]) => unknown>>;

export function hostFunctions(limits: ProcessLimits, said: Said): HostFunctions {
  const memory = new HostMemory(limits.maxHostBytes);
  return {
    [HOST_MODULE]: {
      alloc: (context, size: bigint) => memory.alloc(context, size),
      output_set(context, address: bigint, length: bigint) {
        const bytes = bytesAt(context, address);
        const size = BigInt.asUintN(64, length);
        if (!bytes || size > bytes.byteLength) throw new HostStop("its output is outside of the memory it has.");
        if (size > limits.maxOutputBytes) {
          throw new HostStop(`its output is larger than ${limits.maxOutputBytes} bytes, which is all it may give.`);
        }
        said.output = () => bytes.subarray(0, Number(size));
      },
      error_set(context, address: bigint) {
        said.error = bytesAt(context, address)?.slice(0, MAX_FAILURE_BYTES) ?? new Uint8Array();
      },
      ...variables(),
      ...logging(),
      ...httpFunctions(memory),
    },
    [ABORT.module]: {
      [ABORT.name](_context, _message: number, _file: number, line: number, column: number) {
        throw new Error(`abort at line ${line}, column ${column}`);
      },
    },
  };
}

/** They live as long as the call: what one client's call leaves behind is not another's to find. */
function variables(): HostFunctions[string] {
  const kept = new Map<string, bigint>();
  return {
    var_get: (context, key: bigint) => kept.get(textAt(context, key) ?? "") ?? 0n,
    var_set(context, key: bigint, value: bigint) {
      const name = textAt(context, key);
      if (name === undefined) return;
      if (value === 0n) kept.delete(name);
      else if (kept.size < MAX_VARIABLES || kept.has(name)) kept.set(name, value);
      else throw new HostStop(`it set more than ${MAX_VARIABLES} variables.`);
    },
  };
}

const MAX_VARIABLES = 128;

function logging(): HostFunctions[string] {
  let lines = 0;
  const log = (context: CallContext, address: bigint): void => {
    lines += 1;
    if (lines > MAX_LOG_LINES) return;
    send({ kind: "log" }, bytesAt(context, address)?.subarray(0, MAX_LOG_LINE_BYTES));
  };
  return {
    log_trace: log,
    log_debug: log,
    log_info: log,
    log_warn: log,
    log_error: log,
    // All are taken, from 0, trace: https://github.com/extism/extism/blob/main/runtime/src/pdk.rs
    get_log_level: () => 0,
  };
}
