/** Where the agent's commands run: which sandboxes there are on this machine, and why the others can't be used. Each is tried. */
import type { LoadedConfig } from "@svc/config";
import type { CatalogueEntry, Confinement, SandboxBackend } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { createLogger, Lifecycle } from "@svc/runtime";
import { trialConfinement } from "../service/confinement.ts";
import { closedPorts, handedTo } from "../service/features.ts";
import type { Setup } from "./draft.ts";
import { choose } from "../cli/prompts.ts";

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
    enabled: handedTo({ composition, home, log }, config, definitions, closedPorts("A trial opens no store.")),
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

/** What can't be used here is shown with its reason. */
const KEY = "security.sandbox.backend";

export async function askSandbox(setup: Setup): Promise<void> {
  const options = await sandboxOptions(setup, await setup.draft.load());
  const usable = options.filter(({ unavailable }) => unavailable === undefined);
  const auto =
    usable.length > 0
      ? `the strongest there is, here one of ${usable.map(({ backend }) => backend).join(", ")}`
      : "the strongest available; none is installed yet, so every command needs an approval";
  const backend = await choose("What confines the agent's commands?", [
    { value: "auto", label: "auto", hint: auto },
    ...options.map(({ backend, summary, unavailable }) => ({
      value: backend,
      label: unavailable === undefined ? backend : `${backend} (${unavailable})`,
      hint: summary,
      disabled: unavailable !== undefined,
    })),
    { value: "none", label: "none", hint: "commands may do whatever this user may" },
  ]);
  // A config that is there may say something else.
  setup.draft.set(KEY, backend === "auto" && !setup.draft.isChange ? undefined : backend);
}
