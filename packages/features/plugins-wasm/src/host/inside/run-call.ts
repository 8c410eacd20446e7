/** One call of a plugin: a new instance with memory of its own, so that nothing of one call is there in the next. */
import { createPlugin } from "@extism/extism";
import { type FailureKind, MAX_FAILURE_BYTES, type ProcessLimits } from "../frames.ts";
import { ENTRY_POINT } from "../module/abi.ts";
import { hostFunctions, type Said } from "./host-functions.ts";
import { HostStop } from "./host-stop.ts";
import { engine, type WasmInstance, type WasmModule } from "./web-assembly.ts";

export type CallEnd =
  | { readonly output: Uint8Array }
  | { readonly how: FailureKind; readonly text: Uint8Array | undefined };

/** Never rejects. `input` has its buffer for itself. */
export async function runCall(
  module: WasmModule,
  limits: ProcessLimits,
  input: Uint8Array<ArrayBuffer>,
): Promise<CallEnd> {
  const said: Said = {};
  try {
    const plugin = await createPlugin(
      { wasm: [{ module }] },
      {
        useWasi: false,
        runInWorker: false,
        functions: hostFunctions(limits, said),
        allowedHosts: [],
        allowedPaths: {},
        logger: silent(),
        // Extism looks keys up with `in`, which finds those of every object.
        config: Object.create(null) as Record<string, string>,
      },
    );
    const result = resultOf(await plugin.getInstance());
    await plugin.call(ENTRY_POINT, input);
    const code = result();
    if (said.error) return { how: "reported", text: said.error };
    if (code !== undefined && Number(code) !== 0)
      return failed("crashed", `it ended with ${Number(code)}, which is no 0`);
    return { output: said.output?.() ?? new Uint8Array() };
  } catch (error) {
    return said.error ? { how: "reported", text: said.error } : failureOf(error);
  }
}

/**
 * Extism drops what the entry point returns, by which a plugin without a word for it tells that it failed. Has the instance
 * tell it all the same.
 */
function resultOf(instance: WasmInstance): () => unknown {
  const entry = instance.exports[ENTRY_POINT] as () => unknown;
  let result: unknown;
  const kept = () => {
    result = entry();
  };
  Object.defineProperty(instance, "exports", { value: { ...instance.exports, [ENTRY_POINT]: kept } });
  return () => result;
}

function failureOf(error: unknown): CallEnd {
  if (error instanceof HostStop) return failed("stopped", error.message);
  if (error instanceof engine.CompileError || error instanceof engine.LinkError) {
    return failed("invalid", error.message);
  }
  return failed("crashed", error instanceof Error ? error.message : "it threw what nobody caught");
}

export const failed = (how: FailureKind, text: string): CallEnd => ({
  how,
  text: new TextEncoder().encode(text).subarray(0, MAX_FAILURE_BYTES),
});

function silent(): Console {
  const say = (): void => undefined;
  return { debug: say, info: say, warn: say, error: say } as Console;
}
