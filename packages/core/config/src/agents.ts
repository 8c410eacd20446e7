/**
 * The agents of a config: the default one, made of the plain sections, and those of `[agents.<name>]`, which override it
 * key by key. The price of a model is its own `price`, else the line of `[prices]` with its name.
 */
import { DEFAULT_AGENT } from "./agent-schema.ts";
import type { CoreConfig } from "./core-schema.ts";

export type NamedAgent = CoreConfig["agents"][string];
type Section = CoreConfig["model"];
type Model = Omit<Section, "choices">;

export interface ResolvedAgent {
  readonly name: string;
  readonly instructions: string | undefined;
  /** Its `price` is the one in force; undefined: unknown. */
  readonly model: Model;
  /** What people may have in its place in a conversation, each with the price in force. */
  readonly choices: readonly Model[];
  /** As written; undefined: the workspace of `[workspace]`. */
  readonly workspace: string | undefined;
  readonly policy: CoreConfig["security.policy"];
  /** The only tools it has; undefined: all. */
  readonly tools: readonly string[] | undefined;
  /** US dollars a day (UTC); undefined: no limit. */
  readonly maxCostPerDay: number | undefined;
  /** The same for each client. */
  readonly clientMaxCostPerDay: number | undefined;
}

/** The default agent first, then the named ones in the order of the file. */
export function resolveAgents(core: CoreConfig): ReadonlyMap<string, ResolvedAgent> {
  const main: ResolvedAgent = {
    name: DEFAULT_AGENT,
    instructions: core.agent.instructions,
    ...modelsOf(core.model, core.prices),
    workspace: core.workspace.path,
    policy: core["security.policy"],
    tools: undefined,
    ...costLimits(core.agent),
  };
  const named = Object.entries(core.agents).map(([name, agent]) => [name, resolved(name, agent, core, main)] as const);
  return new Map([[DEFAULT_AGENT, main], ...named]);
}

function resolved(name: string, agent: NamedAgent, core: CoreConfig, main: ResolvedAgent): ResolvedAgent {
  return {
    name,
    instructions: agent.instructions ?? main.instructions,
    ...modelsOf(modelOf(agent.model, core.model), core.prices),
    workspace: agent.workspace ?? main.workspace,
    policy: overridden(main.policy, agent.policy ?? {}),
    tools: agent.tools,
    ...costLimits({ ...core.agent, ...said(agent) }),
  };
}

/**
 * Another provider shares nothing with `[model]`: its key must not go to somebody else's address. Another base URL
 * likewise takes no key along, and another model has another price.
 */
function modelOf(own: NamedAgent["model"], shared: Section): Section {
  if (own === undefined) return shared;
  if (own.provider !== undefined && own.provider !== shared.provider) {
    const { provider, max_retries = shared.max_retries, choices = [] } = own;
    return { ...own, provider, max_retries, choices };
  }
  const { api_key: sharedKey, price: sharedPrice, ...rest } = shared;
  const sameServer = own.base_url === undefined || own.base_url === shared.base_url;
  const sameModel = sameServer && (own.name === undefined || own.name === shared.name);
  return {
    ...rest,
    ...(sameServer && sharedKey !== undefined && { api_key: sharedKey }),
    ...(sameModel && sharedPrice !== undefined && { price: sharedPrice }),
    ...own,
    max_retries: own.max_retries ?? shared.max_retries,
    choices: own.choices ?? shared.choices,
    provider: shared.provider,
  };
}

function overridden(policy: ResolvedAgent["policy"], own: NonNullable<NamedAgent["policy"]>): ResolvedAgent["policy"] {
  return { ...policy, ...said(own) };
}

/** What an agent leaves out is as for all. */
const said = <Own extends object>(own: Own): { [Key in keyof Own]?: Exclude<Own[Key], undefined> } =>
  Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) as never;

function costLimits({
  max_cost_per_day: maxCostPerDay,
  client_max_cost_per_day: ofClient = maxCostPerDay,
  per_client: isPerClient,
}: CostKeys): Pick<ResolvedAgent, "maxCostPerDay" | "clientMaxCostPerDay"> {
  return { maxCostPerDay, clientMaxCostPerDay: isPerClient ? ofClient : undefined };
}

type CostKeys = Pick<CoreConfig["agent"], "max_cost_per_day" | "client_max_cost_per_day" | "per_client">;

/** Each choice is the same but for its name. The price of the standing model is for no other. */
function modelsOf(
  { choices, ...model }: Section,
  prices: CoreConfig["prices"],
): Pick<ResolvedAgent, "model" | "choices"> {
  const { price: _, ...other } = model;
  // It has no name, and is the only one of its kind.
  const names = new Set(model.provider === "builtin" ? [] : choices);
  names.delete(model.name ?? "");
  return { model: priced(model, prices), choices: Array.from(names, (name) => priced({ ...other, name }, prices)) };
}

function priced(model: Model, prices: CoreConfig["prices"]): Model {
  const price =
    model.price ?? (model.name !== undefined && Object.hasOwn(prices, model.name) ? prices[model.name] : undefined);
  return price === undefined ? model : { ...model, price };
}
