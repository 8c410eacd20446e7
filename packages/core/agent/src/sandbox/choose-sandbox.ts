import { type Clock, type Logger, type SandboxBackend, SvcError } from "@svc/contract";
import type { CoreConfig } from "@svc/kernel";
import { noneBackend } from "./none-backend.ts";

export interface SandboxChoiceOptions {
  readonly config: CoreConfig["security.sandbox"];
  /** What the features of this build bring; `none` is always there. */
  readonly backends: readonly SandboxBackend[];
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

async function choose(options: SandboxChoiceOptions): Promise<SandboxChoice> {
  const { enabled, backend: wanted } = options.config;
  if (wanted === "none") return without(options, "", true);
  if (!enabled) return without(options, "security.sandbox.enabled is false: commands run without a sandbox.");
  const candidates = wanted === "auto" ? STRONGEST_FIRST : [wanted];
  const reasons: string[] = [];
  for (const id of candidates) {
    const backend = options.backends.find((each) => each.id === id);
    if (!backend) continue;
    const reason = await reasonAgainst(backend, options);
    if (reason === undefined) return { backend, effective: id, chosenNone: false };
    reasons.push(`${id}: ${reason}`);
  }
  const why = reasons.length === 0 ? "this build has no such backend" : reasons.join("; ");
  const asked = wanted === "auto" ? "No sandbox is available" : `The sandbox ${wanted} is not available`;
  return without(options, `${asked} (${why}): commands run without one.`);
}

/** The specification calls fsrestrict the strongest; container comes last because it runs commands in another system. */
const STRONGEST_FIRST = ["fsrestrict", "userns", "jail", "seatbelt", "container"];

function without(options: SandboxChoiceOptions, warning: string, chosenNone = false): SandboxChoice {
  if (options.config.required) {
    const refusal = warning.replace(/: commands run without.*$/, "");
    return {
      backend: refusing(refusal === "" ? 'security.sandbox.backend is "none"' : refusal),
      effective: "unavailable",
      chosenNone: false,
      warning: `${refusal === "" ? "A sandbox is required and none is chosen" : refusal}: commands are refused.`,
    };
  }
  return { backend: noneBackend, effective: "none", chosenNone, ...(warning !== "" && { warning }) };
}

/** Probing must not hold up the start for longer. */
const PROBE_LIMIT_MS = 10_000;

async function reasonAgainst(backend: SandboxBackend, options: SandboxChoiceOptions): Promise<string | undefined> {
  const limit = new AbortController();
  const cancel = (options.clock ?? timers).after(PROBE_LIMIT_MS, () => limit.abort());
  const signal = AbortSignal.any([options.signal, limit.signal]);
  const late = new Promise<{ available: false; reason: string }>((resolve) => {
    signal.addEventListener("abort", () => resolve({ available: false, reason: "it did not answer in time" }));
  });
  try {
    const probed = await Promise.race([backend.probe(signal), late]);
    options.signal.throwIfAborted();
    return probed.available ? undefined : probed.reason;
  } catch (error) {
    options.signal.throwIfAborted();
    return error instanceof SvcError ? error.message : "its check failed";
  } finally {
    cancel();
  }
}

const refusing = (reason: string): SandboxBackend => ({
  id: "unavailable",
  probe: async () => ({ available: false, reason }),
  open: async () => {
    throw new SvcError(
      "SANDBOX_UNAVAILABLE",
      `${reason}, and security.sandbox.required refuses to go on without one.`,
      {
        hint: "Run svc doctor for what is missing, or choose another security.sandbox.backend.",
      },
    );
  },
});

const timers: Pick<Clock, "after"> = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
