import { type Clock, type Confinement, type Logger, type SandboxBackend, type SandboxLimit } from "@svc/contract";
import { proveConfinement, reasonOf } from "@svc/kit/process";
import type { Environment } from "./engine.ts";
import { removeLeftovers } from "./leftovers.ts";
import { labelOf, ownerOf } from "./owner.ts";
import { containerSession } from "./session.ts";
import { refuseOthers, settle, type Settled } from "./settle.ts";
import { tryOut } from "./try-out.ts";

export interface ContainerOptions {
  /** Name of the image. */
  readonly image: string;
  readonly clock: Pick<Clock, "after">;
  /** `$SVC_HOME`: whose containers they are. */
  readonly homeFolder: string;
  readonly log: Logger;
  /** Default: the daemon's. */
  readonly environment?: () => Environment;
}

/** A container of podman or docker around commands. Throws SANDBOX_UNAVAILABLE where none can be started. */
export function createContainers(options: ContainerOptions): SandboxBackend {
  const { image, clock, homeFolder, log, environment = () => process.env } = options;
  const label = labelOf(homeFolder);
  let known: Settled | undefined;
  const settledFor = async (confinement: Confinement, signal: AbortSignal): Promise<Settled> => {
    refuseOthers(confinement);
    const owner = await ownerOf(process.pid);
    return (known ??= await settle({
      image,
      environment: environment(),
      signal,
      tryOut: (settled) => tryOut({ settled, confinement, owner, label, signal }),
    }));
  };
  const open = async (confinement: Confinement, signal = new AbortController().signal) =>
    containerSession({
      confinement,
      settled: await settledFor(confinement, signal),
      owner: await ownerOf(process.pid),
      label,
      clock,
    });
  return {
    id: "container",
    open: (confinement) => open(confinement),
    async probe(confinement, signal) {
      try {
        known = undefined; // what was missing may be there by now, and the other way round
        const { engine, workarounds } = await settledFor(confinement, signal);
        const removed = await removeLeftovers(engine, label, signal);
        if (removed > 0) log.info("Containers were removed that a killed process had left behind.", { count: removed });
        const objection = await proveConfinement({ open, confinement, signal, offline: OFFLINE });
        if (objection !== undefined) return { available: false, reason: objection };
        const grouped: SandboxLimit[] = workarounds.noGroups ? ["memoryMb", "pids"] : [];
        return {
          available: true,
          unenforced: grouped.filter((limit) => confinement.limits[limit] !== undefined),
          notes: notesOn(engine.name, confinement),
        };
      } catch (error) {
        signal.throwIfAborted();
        return { available: false, reason: reasonOf(error) };
      }
    },
  };
}

const notesOn = (engine: string, { network }: Confinement): string[] => [
  `Commands run in containers of ${engine}: with the image's programs, not this machine's.`,
  ...(network ? ["With security.sandbox.network they share this machine's network, its loopback included."] : []),
];

/** Two lines of headings and the loopback interface, proc_pid_net(5). */
const OFFLINE = `{ read -r a; read -r b; read -r first rest; read -r more; } </proc/net/dev; case "$first$more" in lo:*) echo offline;; esac`;
