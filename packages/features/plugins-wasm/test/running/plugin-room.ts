/** Plugins that run: real processes, and a clock that only the test moves. */
import type { FetchOptions, FetchResult } from "@svc/contract";
import { type CapturedLogger, captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock, type FakeClock } from "@svc/testkit/fake-clock";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { createHash, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { InstalledPlugin } from "../../src/installed.ts";
import { PluginHost } from "../../src/plugin-host.ts";
import { callServices } from "../../src/requests.ts";
import { wasmOf } from "./wat.ts";

export const HOST_COMMAND = [
  process.execPath,
  join(import.meta.dirname, "plugin-host-process.ts"),
] as const satisfies readonly [string, ...string[]];

export interface PluginRoom extends Disposable {
  readonly host: PluginHost;
  readonly clock: FakeClock;
  readonly log: CapturedLogger;
  /** Installs a module: its text, or its bytes. */
  plugin(module: string | Uint8Array, given?: Partial<InstalledPlugin>): Promise<InstalledPlugin>;
  call(plugin: InstalledPlugin, input?: string, options?: CallOptions): Promise<string>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly fetch?: (url: string, options?: FetchOptions) => Promise<FetchResult>;
}

export function pluginRoom(): PluginRoom {
  const home = temporaryHome();
  const clock = fakeClock();
  const log = captureLogger();
  const host = new PluginHost({ command: () => HOST_COMMAND, clock });
  return {
    host,
    clock,
    log,
    async plugin(module, given = {}) {
      const bytes = typeof module === "string" ? await wasmOf(module) : module;
      const name = given.name ?? `p${randomUUID().replaceAll("-", "").slice(0, 12)}`;
      const wasmFile = join(home.path, `${randomUUID()}.wasm`);
      await writeFile(wasmFile, bytes);
      return {
        name,
        version: "1.0.0",
        description: "Does something for a test.",
        wasmFile,
        sha256: createHash("sha256").update(bytes).digest("hex"),
        allowedHosts: [],
        limits: { memoryMb: 16, timeoutMs: 5000, maxOutputBytes: 65_536 },
        folder: home.path,
        ...given,
      };
    },
    call(plugin, input = "", { signal = new AbortController().signal, fetch = noNetwork } = {}) {
      return host.call(plugin, input, callServices(plugin, { fetch, log }), signal);
    },
    [Symbol.dispose]() {
      host.close();
      home.remove();
    },
  };
}

const noNetwork = (): Promise<never> => Promise.reject(new Error("this test has no network"));

/** Waits until the plugin has said `line` in its log. */
export async function said({ log }: Pick<PluginRoom, "log">, line: string): Promise<void> {
  while (!log.lines.some(({ fields }) => fields["line"] === line))
    await new Promise((resolve) => setTimeout(resolve, 2));
}
