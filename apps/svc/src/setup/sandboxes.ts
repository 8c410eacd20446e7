/** The sandboxes that commands could run in on this machine, and why the others could not. Each is tried, not guessed. */
import { type CatalogueEntry, type Confinement, type SandboxBackend, SvcError } from "@svc/contract";
import { Lifecycle, createLogger } from "@svc/runtime";
import type { LoadedConfig } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { trialConfinement } from "../service/confinement.ts";
import { type FeaturePorts, handedTo } from "../service/features.ts";
import type { Setup } from "./setup.ts";

export interface SandboxOption {
  /** What `security.sandbox.backend` takes. */
  readonly backend: string;
  readonly summary: string;
  /** Why it can't be used here; undefined: it can. */
  readonly unavailable: string | undefined;
}

const FEATURE_PREFIX = "sandbox-";

/** In the order of the catalogue. */
export async function sandboxOptions(setup: Setup, config: LoadedConfig): Promise<readonly SandboxOption[]> {
  const { catalogue } = setup.composition;
  const reasons = await probe(setup, config);
  return catalogue
    .filter((entry) => entry.kind === "sandbox" && entry.id.startsWith(FEATURE_PREFIX))
    .map((entry) => {
      const backend = entry.id.slice(FEATURE_PREFIX.length);
      const unavailable =
        absent(entry) ?? (reasons.has(backend) ? reasons.get(backend) : "its feature failed to start");
      return { backend, summary: entry.summary, unavailable };
    });
}

function absent({ build, included, planned, platforms }: CatalogueEntry): string | undefined {
  if (platforms.length > 0 && !platforms.includes(process.platform)) return "not for this system";
  if (planned) return "not written yet";
  return included ? undefined : `not in this build; add it with: ${build}`;
}

/** By backend, why it is not available. Nothing else of the features runs. */
async function probe({ composition, home }: Setup, config: LoadedConfig): Promise<Map<string, string | undefined>> {
  const ids = new Set(composition.catalogue.filter(({ kind }) => kind === "sandbox").map(({ id }) => id));
  const definitions = composition.features.filter(({ id }) => ids.has(id));
  if (definitions.length === 0) return new Map();
  const log = createLogger({ level: "error", write: () => {}, json: true, clock: systemClock });
  const lifecycle = new Lifecycle({
    definitions,
    // All of them, whichever the config asks for.
    enabled: handedTo({ composition, home, log }, config, definitions, noDoors),
    log,
    clock: systemClock,
  });
  const limit = AbortSignal.timeout(PROBE_LIMIT_MS);
  const trial = await trialConfinement(home, config);
  try {
    await lifecycle.construct();
    const { sandboxes } = await lifecycle.register(limit);
    const { confinement, obstacle } = trial;
    const found = sandboxes
      .list()
      .map(async (backend) => [backend.id, obstacle ?? (await reasonAgainst(backend, confinement, limit))] as const);
    return new Map(await Promise.all(found));
  } finally {
    await lifecycle.shutdown();
    await trial.dispose();
  }
}

const closed = (): never => {
  throw new SvcError("STORE_FAILED", "A trial opens no store.");
};
const noDoors: FeaturePorts = { store: closed, receive: async () => closed() };

const PROBE_LIMIT_MS = 10_000;

async function reasonAgainst(
  backend: SandboxBackend,
  confinement: Confinement,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const probed = await backend.probe(confinement, signal);
    return probed.available ? undefined : probed.reason;
  } catch {
    return "its check failed";
  }
}
