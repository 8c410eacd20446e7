/** `[hardware]`: boards that are plugged in, and those of `[peripherals]` if that is on too; what both sections contribute. */
import { type Contributions, type FeatureContext, provide } from "@svc/contract";
import { BOARDS, type BoardEntry, MOTOR_BOARDS, scanUsb, type UsbDevice } from "@svc/kit/hardware";
import type { BoardConfig, HardwareConfig, PeripheralsConfig } from "./config.ts";
import { CallLog, toolsOf } from "./tools.ts";
import { BoardRegistry } from "./registry.ts";
import { routesOf } from "./routes.ts";

export function create(context: FeatureContext<HardwareConfig>): Contributions {
  const { boards = [] } = (context.siblings["peripherals"] ?? {}) as Partial<PeripheralsConfig>;
  return boardsFeature(context, { hardware: context.config, boards });
}

const SCAN_MS = 5000;

export interface Sections {
  /** Undefined: the feature does not look for plugged-in boards. */
  readonly hardware: HardwareConfig | undefined;
  readonly boards: readonly BoardConfig[];
  /** Of the file system; another one in tests. */
  readonly root?: string;
}

/** Contributions of both sections: the registry, its tools and routes, and board discovery. */
export function boardsFeature(
  { capabilities, clock, homeFolder, log, publish, refresh, resolve, state }: FeatureContext,
  { hardware, boards, root = "/" }: Sections,
): Contributions {
  const scan = hardware ? () => connectedDevices(root) : undefined;
  const registry = new BoardRegistry({ boards, scan, clock, state, capabilities, resolve });
  const calls = new CallLog(clock);
  const flash = { registry, clock, homeFolder, firmwareDir: hardware?.firmware_dir ?? "hardware/firmware", root };
  return {
    tools: toolsOf(registry, flash, calls),
    routes: routesOf({ registry, flash, calls }),
    provides: [provide(BOARDS, registry), provide(MOTOR_BOARDS, registry)],
    promptContext: () => promptOf(registry.list()),
    async register(signal) {
      signal.throwIfAborted();
      const { added } = await registry.scan();
      if (added.length > 0) log.info("boards connected", { boards: added.join(" ") });
    },
    async run(signal) {
      // Commands and tools scan as well, between two scans of this loop.
      const end = registry.onChange(({ added, removed }) => {
        log.info("boards changed", { added: added.join(" "), removed: removed.join(" ") });
        const connected = registry.list().filter(({ isConnected }) => isConnected).length;
        publish({ type: "hardware-changed", added, removed, connected });
        // Rebuild features whose tools depend on the connected boards.
        refresh();
      });
      try {
        for (;;) {
          await clock.sleep(SCAN_MS, signal);
          await registry.scan();
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        end();
        // The next generation opens the same ports.
        if (signal.aborted) await registry.close();
      }
    },
    async shutdown() {
      await registry.close();
    },
  };
}

/** Connected USB devices; on systems other than Linux the addon lists them. */
const connectedDevices = async (root: string): Promise<readonly UsbDevice[]> =>
  process.platform === "linux" ? await scanUsb(root) : await (await import("./link/serial-link.ts")).listPorts();

/** For the system prompt; empty if no board is connected. */
function promptOf(boards: readonly BoardEntry[]): string {
  const lines = boards
    .filter(({ isConnected }) => isConnected)
    .map(
      ({ alias, board, architecture }) => `${alias}: ${board}${architecture ? ` (${architecture})` : ""}, connected`,
    );
  return lines.length === 0 ? "" : `Connected devices:\n${lines.join("\n")}`;
}
