/** What `[security.sandbox]` asks of whatever confines the commands of one workspace. */
import type { Confinement, SandboxLimit } from "@svc/contract";
import type { CoreConfig } from "@svc/config";

export interface ConfinementDeps {
  readonly config: CoreConfig["security.sandbox"];
  /** Absolute path; the working directory of commands. */
  readonly workspace: string;
  /** Paths that must not be visible inside, `$SVC_HOME` first. */
  readonly hidden: readonly string[];
  /** Whom commands run as, where that is not the daemon's own user. */
  readonly user?: Confinement["user"];
}

/** What is in force where the config is silent: enough for a compiler, too little to take the machine down. */
const DEFAULT_LIMITS = { memoryMb: 2048, pids: 256 } as const;

export function confinementOf({ config, workspace, hidden, user }: ConfinementDeps): Confinement {
  const { memory_mb: memoryMb = DEFAULT_LIMITS.memoryMb, cpu_secs: cpuSecs, pids = DEFAULT_LIMITS.pids } = config;
  return {
    workspace,
    network: config.network,
    readable: config.readable,
    writable: config.writable,
    hidden,
    limits: { memoryMb, pids, timeoutSecs: config.timeout_secs, ...(cpuSecs !== undefined && { cpuSecs }) },
    ...(user && { user }),
  };
}

/** The key that asks for a limit. */
export const LIMIT_KEYS = { memoryMb: "memory_mb", cpuSecs: "cpu_secs", pids: "pids" } as const satisfies Record<
  SandboxLimit,
  keyof CoreConfig["security.sandbox"]
>;

/** Limits that the owner wrote down: a backend that can't hold one is not good enough. */
export const writtenLimits = (config: CoreConfig["security.sandbox"]): SandboxLimit[] =>
  (Object.keys(LIMIT_KEYS) as SandboxLimit[]).filter((limit) => config[LIMIT_KEYS[limit]] !== undefined);

/** The same without the limits that the backend can't hold. */
export function without(confinement: Confinement, limits: readonly SandboxLimit[]): Confinement {
  if (limits.length === 0) return confinement;
  const enforced = Object.entries(confinement.limits).filter(([name]) => !limits.includes(name as SandboxLimit));
  return { ...confinement, limits: Object.fromEntries(enforced) };
}
