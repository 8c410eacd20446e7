import type { Clock, Confinement, SandboxBackend, SandboxLimit, SandboxProbe } from "@svc/contract";
import { SvcError } from "@svc/contract";
import type { Report } from "./request.ts";
import { makeTemporary, openSession, remove, restrictionOf } from "./session.ts";
import type { Starter } from "./starter.ts";
import { reasonOf, reportsIn } from "./verdict.ts";

export interface BackendOptions {
  readonly starter: Starter;
  readonly clock: Pick<Clock, "after">;
}

export function createBackend(options: BackendOptions): SandboxBackend {
  return {
    id: "fsrestrict",
    probe: (confinement, signal) => probe(confinement, signal, options),
    open: (confinement) => openSession(confinement, options),
  };
}

async function probe(confinement: Confinement, signal: AbortSignal, options: BackendOptions): Promise<SandboxProbe> {
  const tried = await trial(confinement, signal, options);
  if (tried.kind === "failed") return { available: false, reason: reasonOf(tried) };
  if (tried.kind !== "tried") return { available: false, reason: "Its own trial did not come to an end." };
  const [through] = tried.through;
  if (through !== undefined) return { available: false, reason: `It does not confine here: ${through} got through.` };
  if (!confinement.user && process.getuid?.() !== 0 && tried.abi < ABI_SIGNALS) {
    return {
      available: false,
      reason: "Commands could signal the daemon's user's other processes (Linux 6.12 keeps them from it).",
    };
  }
  return { available: true, unenforced: unenforcedOf(confinement), notes: [`Landlock ABI ${tried.abi}.`] };
}

/** `LANDLOCK_SCOPE_SIGNAL`; with a user of its own a command can signal nobody else's processes. */
const ABI_SIGNALS = 6;

/** Root's processes are not counted. */
const unenforcedOf = ({ user, limits }: Confinement): SandboxLimit[] =>
  limits.pids !== undefined && !user && process.getuid?.() === 0 ? ["pids"] : [];

/** What a child that confined itself could still do. */
async function trial(confinement: Confinement, signal: AbortSignal, { starter }: BackendOptions): Promise<Report> {
  const temporary = await makeTemporary(confinement);
  try {
    const restriction = await restrictionOf(confinement, temporary);
    signal.throwIfAborted();
    const { child, reported } = starter.start({ restriction, run: { kind: "trial" } });
    const end = (): void => void child.kill("SIGKILL");
    signal.addEventListener("abort", end, { once: true });
    const [report] = reportsIn(await reported);
    signal.removeEventListener("abort", end);
    if (report) return report;
    throw new SvcError("SANDBOX_UNAVAILABLE", "The process that confines commands does not start.");
  } finally {
    await remove(temporary);
  }
}
