/**
 * What must be true of the agents once what each leaves out is taken from everybody's sections. A mistake that is in those
 * sections is told there, once, and not again for every agent that takes it over.
 */
import { TOOL_NAME } from "@svc/contract";
import { DEFAULT_AGENT } from "./agent-schema.ts";
import { type NamedAgent, type ResolvedAgent, resolveAgents } from "./agents.ts";
import type { CoreConfig } from "./core-schema.ts";
import { type Finding, badKey, badValue, wrongItems } from "./finding.ts";
import type { LoadedSection } from "./loaded-config.ts";
import { type Path, keyText } from "./table.ts";

/** Nothing is said while a section that agents are made of is not valid by itself. */
export function agentRules(core: Partial<CoreConfig>): Finding[] {
  if (!hasNeeded(core)) return [];
  const agents = resolveAgents(core as CoreConfig).values();
  return [
    ...ownModelFaults(core),
    ...agents.flatMap((agent) => costRules(agent, core)),
    ...clientRules(core),
    ...Object.entries(core.agents).flatMap(([name, agent]) => ownRules(["agents", name], agent)),
  ];
}

type Needed = "agents" | "agent" | "model" | "prices" | "workspace" | "security.policy";
type CoreOfAgents = Partial<CoreConfig> & Pick<CoreConfig, Needed>;

function hasNeeded(core: Partial<CoreConfig>): core is CoreOfAgents {
  const needed: readonly Needed[] = ["agents", "agent", "model", "prices", "workspace", "security.policy"];
  return needed.every((name) => core[name] !== undefined);
}

/** What is wrong with the agents' models even if [model] had no fault. */
function ownModelFaults(core: CoreOfAgents): Finding[] {
  const fixed = Object.fromEntries(modelFaults(core.model, ["model"]).map(({ path }) => [String(path.at(-1)), "x"]));
  const agents = resolveAgents({ ...(core as CoreConfig), model: { ...core.model, ...fixed } });
  return [...agents.values()]
    .filter(({ name }) => name !== DEFAULT_AGENT)
    .flatMap(({ name, model }) => modelFaults(model, ["agents", name, "model"]));
}

/** Without the price nobody could tell when the limit is reached, and it would never be. */
function costRules(agent: ResolvedAgent, core: CoreOfAgents): Finding[] {
  const { name, model, maxCostPerDay, clientMaxCostPerDay } = agent;
  if (maxCostPerDay === undefined && clientMaxCostPerDay === undefined) return [];
  if (model.provider === "builtin") return [];
  if (model.price !== undefined) return choiceRules(agent, core);
  const shared = limitKey(core.agent) ?? "max_cost_per_day";
  if (name === DEFAULT_AGENT) return [badValue(["agent", shared], `needs ${howToPrice([])}`)];
  const path = ["agents", name];
  const { model: ownModel, ...ownLimits } = core.agents[name] ?? {};
  const own = limitKey(ownLimits);
  if (own !== undefined) return [badValue([...path, own], `needs ${howToPrice(path)}`)];
  if (ownModel === undefined) return [];
  return [badValue([...path, "model"], `agent.${shared} holds here too, and needs ${howToPrice(path)}`)];
}

/** The key that limits cost; undefined: neither is set. */
function limitKey(section: CostLimits): keyof CostLimits | undefined {
  if (section.max_cost_per_day !== undefined) return "max_cost_per_day";
  return section.client_max_cost_per_day === undefined ? undefined : "client_max_cost_per_day";
}

type CostLimits = Pick<NamedAgent, "max_cost_per_day" | "client_max_cost_per_day">;

/** Numbers that were swapped, most likely: no client could reach its own. */
function clientRules(core: CoreOfAgents): Finding[] {
  const rule = (path: Path, all: number | undefined, client: number | undefined, key: string): Finding[] =>
    all === undefined || client === undefined || client <= all
      ? []
      : [badValue([...path, `client_${key}`], `must not be more than ${keyText([...path, key])}`)];
  const costs = (path: Path, { max_cost_per_day: all, client_max_cost_per_day: client }: CostLimits): Finding[] =>
    rule(path, all, client, "max_cost_per_day");
  const actions = (path: Path, policy: NonNullable<NamedAgent["policy"]>): Finding[] => {
    const { max_actions_per_hour: all, client_max_actions_per_hour: client } = policy;
    return rule(path, all === 0 ? undefined : all, client, "max_actions_per_hour");
  };
  return [
    ...costs(["agent"], core.agent),
    ...actions(["security", "policy"], core["security.policy"]),
    ...Object.entries(core.agents).flatMap(([name, agent]) => [
      ...costs(["agents", name], agent),
      ...actions(["agents", name, "policy"], agent.policy ?? {}),
    ]),
  ];
}

/** Who may choose a model may spend money on it. */
function choiceRules({ name, choices }: ResolvedAgent, core: CoreOfAgents): Finding[] {
  if (choices.every(({ price }) => price !== undefined)) return [];
  const needs = 'needs the price of each of them: set [prices."…"] with its name in the quotes';
  const shared = limitKey(core.agent);
  if (name === DEFAULT_AGENT) return [badValue(["model", "choices"], `agent.${shared ?? "max_cost_per_day"} ${needs}`)];
  const { model, ...ownLimits } = core.agents[name] ?? {};
  const own = limitKey(ownLimits);
  const path = ["agents", name];
  if (model?.choices) return [badValue([...path, "model", "choices"], `the limit of cost ${needs}`)];
  // The limit is its own, and the choices are everybody's.
  if (own !== undefined && shared === undefined) {
    return [badValue([...path, own], `holds for the models of model.choices too, and ${needs}`)];
  }
  return [];
}

const howToPrice = (agent: Path): string =>
  `the price of the model: set [${keyText([...agent, "model", "price"])}], or [prices."…"] with the model's name in the quotes`;

function ownRules(path: Path, { policy, tools = [], workspace }: NamedAgent): Finding[] {
  const isName = (tool: string): boolean => TOOL_NAME.test(tool);
  return [
    ...wrongItems([...path, "policy", "forbidden_paths"], policy?.forbidden_paths ?? [], isPlainPath, PLAIN_PATH),
    ...wrongItems([...path, "tools"], tools, isName, "must be a tool's name: a-z, then a-z 0-9 _, at most 64"),
    ...(workspace?.trim() === "" ? [badValue([...path, "workspace"], "must be a path, not blank")] : []),
  ];
}

/** The channels that `tts.reply_in` names, among those of this build. */
export function spokenChannelRules(
  { tts }: Partial<CoreConfig>,
  sections: Iterable<Pick<LoadedSection, "section">>,
): Finding[] {
  const among = Array.from(sections).flatMap(({ section: { name } }) =>
    name.startsWith("channels_config.") ? [name.slice("channels_config.".length)] : [],
  );
  return Object.keys(tts?.reply_in ?? {}).flatMap((channel) => {
    if (among.includes(channel)) return [];
    const guess = { wrong: channel, among };
    const path = ["tts", "reply_in", channel];
    return [badKey(path, "no channel of this build has this id", { allowed: among.join(", "), guess })];
  });
}

/** The agents that the sections of channels name, core's own and those of features. */
export function channelAgentRules(
  { agents }: Partial<CoreConfig>,
  sections: Iterable<Pick<LoadedSection, "section" | "input">>,
): Finding[] {
  if (agents === undefined) return [];
  const among = [DEFAULT_AGENT, ...Object.keys(agents)];
  return Array.from(sections).flatMap(({ section: { name, path, entries }, input: { agent } }) => {
    if (!name.startsWith("channels_config.") || !entries.has("agent")) return [];
    if (typeof agent !== "string" || among.includes(agent)) return [];
    const guess = { wrong: agent, among };
    return [badValue([...path, "agent"], "no agent has this name", { allowed: among.join(", "), guess })];
  });
}

// What a model's settings must be to each other: of `[model]`, and of what an agent makes of it.

/** `path`: the table to blame. */
export function modelFaults({ provider, name, base_url, api_key }: ResolvedAgent["model"], path: Path): Finding[] {
  if (provider === "builtin") return [];
  const needed = [
    ["name", name],
    ...(provider === "openai-compatible" ? [["base_url", base_url]] : [["api_key", api_key]]),
  ] as const;
  const missing = needed.filter(([, value]) => (value ?? "").trim() === "");
  const message = `is required when ${keyText([...path, "provider"])} is "${provider}"`;
  const findings = missing.map(([key]) => badValue([...path, key!], message, { at: "key" }));
  if (/^[\x21-\x7e]*$/.test(api_key?.trim() ?? "")) return findings;
  return [...findings, badValue([...path, "api_key"], "has characters that no HTTP header can carry")];
}

/** Which paths a policy may forbid: what it can't hold to must not look as if it did. */
export const PLAIN_PATH = "must be a plain path, absolute or relative to the workspace, without ~ and without patterns";

export const isPlainPath = (path: string): boolean =>
  path.trim() !== "" && !/[*?[\]\0]/.test(path) && !path.startsWith("~");
