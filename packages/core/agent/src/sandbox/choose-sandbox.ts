import {
  type Clock,
  type Confinement,
  type Logger,
  type SandboxBackend,
  type SandboxLimit,
  type SandboxProbe,
  SvcError,
} from "@svc/contract";
import type { CoreConfig } from "@svc/config";
import { LIMIT_KEYS, writtenLimits } from "./confinement.ts";
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { runtimeTimers, withTimeout } from "@svc/kit/async";
import { inheritableDescriptors } from "@svc/kit/descriptors";
import { type ConfinedSessionOptions, type Confining, confinedSession } from "@svc/kit/process";

export interface SandboxChoiceOptions {
  readonly config: CoreConfig["security.sandbox"];
  /** What the features of this build bring; `none` is always there. */
  readonly backends: readonly SandboxBackend[];
  /** What the one that is taken has to enforce, in the default agent's workspace. */
  readonly confinement: Confinement;
  /** Why none can be used in that workspace, whatever it can do. */
  readonly obstacle?: string | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Limits each probe. Default: the runtime's timers. */
  readonly clock?: Pick<Clock, "after">;
}

export interface SandboxChoice {
  readonly backend: SandboxBackend;
  /** The backend in force: `none` when nothing confines, `unavailable` when commands are refused. */
  readonly effective: string;
  /** The config says `backend = "none"`: the owner knows that nothing confines (see `createPolicy`). */
  readonly chosenNone: boolean;
  /** Limits that nobody wrote down and that it can't hold: they are not asked of it. */
  readonly unenforced: readonly SandboxLimit[];
  /** Why it is this one, a sentence each: what was tried before it, and what it can't do. */
  readonly reasons: readonly string[];
  /** Why those tried before it are not used, by backend. */
  readonly tried: ReadonlyMap<string, string>;
  /** Why none can be used in this workspace. */
  readonly obstacle?: string | undefined;
  /** What the config asks for: `auto`, a backend, or `off` where it switches sandboxes off. */
  readonly wanted: string;
  /** Keys that switch sandboxes off, as they have to be set for one: `security.sandbox.enabled = true`. */
  readonly inTheWay: readonly string[];
  /** What an operator should know, with the reason. */
  readonly warning?: string;
}

/**
 * The backend that commands run in. One that is asked for and not available is replaced by `none` with a warning; with
 * `required = true` commands are refused instead, `enabled = false` and `auto` without any backend included.
 */
export async function chooseSandbox(options: SandboxChoiceOptions): Promise<SandboxChoice> {
  const choice = await choose(options);
  if (choice.warning !== undefined) options.log.warn(choice.warning, { sandbox: choice.effective });
  return choice;
}

/** Chosen while the daemon serves already. Commands wait for the verdict. */
export interface SandboxInForce {
  /** `probing` until the verdict is there: then its backend refuses every command. */
  readonly choice: SandboxChoice;
  /** Rejects where the probe was aborted. */
  readonly verdict: Promise<SandboxChoice>;
}

/** @param after Nothing is probed before it resolves. */
export function probeSandbox(options: SandboxChoiceOptions, after?: Promise<void>): SandboxInForce {
  let choice: SandboxChoice = {
    backend: refusing("The sandbox is still being probed"),
    effective: "probing",
    chosenNone: false,
    unenforced: [],
    reasons: [],
    tried: new Map(),
    wanted: options.config.backend,
    inTheWay: [],
  };
  const chosen = after ? after.then(() => chooseSandbox(options)) : chooseSandbox(options);
  const verdict = chosen.then((found) => (choice = found));
  // Each caller that awaits it gets a rejection; without a caller it would end the process.
  verdict.catch(() => {});
  return {
    get choice() {
      return choice;
    },
    verdict,
  };
}

async function choose(options: SandboxChoiceOptions): Promise<SandboxChoice> {
  const { enabled, backend: wanted } = options.config;
  if (wanted === "none") return without(options, "", { chosenNone: true });
  if (!enabled) return without(options, "security.sandbox.enabled is false: commands run without a sandbox.");
  const candidates = wanted === "auto" ? STRONGEST_FIRST : [wanted];
  const tried = new Map<string, string>();
  for (const id of candidates) {
    const backend = options.backends.find((each) => each.id === id);
    if (!backend) continue;
    if (options.obstacle !== undefined) {
      return without(options, notAvailable(wanted, options.obstacle), { obstacle: options.obstacle });
    }
    const probed = await probe(backend, options);
    if (probed.available) {
      const { unenforced, notes = [] } = probed;
      const reasons = [...reasonLines(tried), ...notes];
      return { backend, effective: id, chosenNone: false, wanted, inTheWay: [], unenforced, reasons, tried };
    }
    tried.set(id, probed.reason);
  }
  const why = tried.size === 0 ? "this build has no such backend" : reasonLines(tried).join("; ");
  return without(options, notAvailable(wanted, why), { tried });
}

const reasonLines = (tried: ReadonlyMap<string, string>): string[] =>
  Array.from(tried, ([id, reason]) => `${id}: ${reason}`);

const notAvailable = (wanted: string, why: string): string =>
  `${wanted === "auto" ? "No sandbox is available" : `The sandbox ${wanted} is not available`} (${why}): commands run without one.`;

/**
 * The specification calls fsrestrict the strongest; container comes last because it runs commands in another system. One after the
 * other and not side by side: mostly the first one is taken, and what is tried beside it for nothing is in its way.
 */
const STRONGEST_FIRST = ["fsrestrict", "userns", "jail", "seatbelt", "container"];

function without(
  options: SandboxChoiceOptions,
  warning: string,
  {
    chosenNone = false,
    obstacle,
    tried = new Map(),
  }: Partial<Pick<SandboxChoice, "chosenNone" | "obstacle" | "tried">> = {},
): SandboxChoice {
  const { enabled, backend } = options.config;
  const inTheWay = [
    ...(enabled ? [] : ["security.sandbox.enabled = true"]),
    ...(backend === "none" ? ['security.sandbox.backend = "auto"'] : []),
  ];
  const why = { tried, obstacle, inTheWay, wanted: enabled ? backend : "off" };
  if (options.config.required) {
    const refusal = warning.split(": commands run without", 1)[0]!;
    return {
      backend: refusing(
        `${refusal === "" ? 'security.sandbox.backend is "none"' : refusal}, and security.sandbox.required refuses to go on without one`,
      ),
      effective: "unavailable",
      chosenNone: false,
      unenforced: [],
      reasons: [],
      ...why,
      warning: `${refusal === "" ? "A sandbox is required and none is chosen" : refusal}: commands are refused.`,
    };
  }
  const unenforced: SandboxLimit[] = ["memoryMb", "cpuSecs", "pids"];
  const reasons: string[] = [];
  return {
    backend: noneBackend,
    effective: "none",
    chosenNone,
    unenforced,
    reasons,
    ...why,
    ...(warning !== "" && { warning }),
  };
}

/** Probing must not hold up the start for longer. */
const PROBE_LIMIT_MS = 10_000;

async function probe(backend: SandboxBackend, options: SandboxChoiceOptions): Promise<SandboxProbe> {
  const { clock = runtimeTimers, signal, confinement } = options;
  const error = (): SvcError => new SvcError("SANDBOX_UNAVAILABLE", "it did not answer in time");
  try {
    const limit = { clock, timeoutMs: PROBE_LIMIT_MS, signal, error };
    const probed = await withTimeout(limit, (given) => backend.probe(confinement, given));
    return probed.available ? judged(probed, options) : probed;
  } catch (failure) {
    signal.throwIfAborted();
    return { available: false, reason: failure instanceof SvcError ? failure.message : "its check failed" };
  }
}

/** A limit that somebody wrote down is held, or the backend is not used. */
function judged(probed: SandboxProbe & { available: true }, { config }: SandboxChoiceOptions): SandboxProbe {
  const written = writtenLimits(config);
  const broken = probed.unenforced.filter((limit) => written.includes(limit)).map((limit) => LIMIT_KEYS[limit]);
  if (broken.length === 0) return probed;
  return { available: false, reason: `it can't hold security.sandbox.${broken.join(", security.sandbox.")} here` };
}

const refusing = (reason: string): SandboxBackend => ({
  id: "unavailable",
  probe: async () => ({ available: false, reason }),
  open: async () => {
    throw new SvcError("SANDBOX_UNAVAILABLE", `${reason}.`, {
      hint: "Run svc doctor for what is missing, or choose another security.sandbox.backend.",
    });
  },
});

/**
 * The backend that is always there and confines nothing: a command can read and write what the daemon's user can, and
 * reach the network. It still gets a clean environment, starts below the workspace, ends with all its processes, and
 * fills no memory. A limit that only a sandbox can enforce is refused, not ignored.
 */
export function createNoneBackend(options: ConfinedSessionOptions = {}): SandboxBackend {
  return {
    id: "none",
    probe: async () => ({ available: true, unenforced: ["memoryMb", "cpuSecs", "pids"] }),
    async open(confinement) {
      refuseLimits(confinement);
      return confinedSession(confinement, UNCONFINED, options);
    },
  };
}

export const noneBackend: SandboxBackend = createNoneBackend();

const UNCONFINED: Confining = {
  start: ({ words: [file, ...args], verbatim = false, folder, env, hasInput }) => {
    const covers = coversOf(inheritableDescriptors());
    try {
      return spawn(file, args, {
        cwd: folder,
        env,
        stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", ...covers.stdio],
        // A process group of its own, so that one signal reaches all of it. On Windows it would be a console of its own.
        detached: process.platform !== "win32",
        windowsHide: true,
        windowsVerbatimArguments: verbatim,
      });
    } finally {
      covers.close();
    }
  },
};

/** What the daemon still has open for its children is /dev/null for a command. The start closed all but what its command line names. */
function coversOf(descriptors: readonly number[]): { stdio: ("ignore" | number)[]; close(): void } {
  if (descriptors.length === 0) return { stdio: [], close: () => undefined };
  const nothing = openSync("/dev/null", "r+");
  const length = Math.max(...descriptors) - 2;
  return {
    stdio: Array.from({ length }, (_, at) => (descriptors.includes(at + 3) ? nothing : "ignore")),
    close: () => closeSync(nothing),
  };
}

function refuseLimits({ limits }: Confinement): void {
  if ([limits.memoryMb, limits.cpuSecs, limits.pids].every((limit) => limit === undefined)) return;
  throw new SvcError("SANDBOX_UNAVAILABLE", "Limits of memory, processor time or processes need a sandbox.");
}
