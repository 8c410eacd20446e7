/** The models of a provider, for a person who chooses one; where it lists none, why. */
import { SvcError } from "@svc/contract";
import { DEFAULT_AGENT, type LoadedConfig, resolveAgents } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { baseUrlOf } from "./agent-models.ts";
import { networkCodeOf } from "./provider-error.ts";
import { modelNames, NotListed } from "./provider-words.ts";

export interface ListedModels {
  readonly models: readonly string[];
  readonly error: string | null;
}

const MOST = 500;

/** Never rejects but with AGENT_UNKNOWN: a provider without a list is still one that answers. */
export async function listModels(
  { core }: Pick<LoadedConfig, "core">,
  agent: string = DEFAULT_AGENT,
  signal: AbortSignal,
): Promise<ListedModels> {
  const config = resolveAgents(core).get(agent)?.model;
  if (!config) throw new SvcError("AGENT_UNKNOWN");
  const baseUrl = baseUrlOf(config);
  if (baseUrl === undefined) return { models: [], error: null };
  try {
    const models = (await modelNames({ config, baseUrl }, systemClock, signal)).slice(0, MOST).toSorted();
    return { models, error: models.length === 0 ? "The provider lists no models. Enter a name." : null };
  } catch (error) {
    return { models: [], error: why(error, new URL(baseUrl).host) };
  }
}

function why(error: unknown, host: string): string {
  if (error instanceof NotListed) {
    if (error.status === 401 || error.status === 403) return `${host} refuses the API key (status ${error.status}).`;
    return error.status === 404
      ? `${host} has no list of models at this address. Most base URLs end in /v1.`
      : `${host} answered with status ${error.status}.`;
  }
  if (error instanceof SyntaxError) return `${host} did not answer as a model server does.`;
  const code = networkCodeOf(error);
  if (code === "ECONNREFUSED") return `Nothing listens on ${host}. Is the model server running?`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `The name of ${host} can't be resolved.`;
  return `${host} can't be reached${code === undefined ? " in time" : ` (${code})`}.`;
}
