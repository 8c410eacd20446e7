/**
 * What must be true of the agents once what each leaves out is taken from everybody's sections. A mistake that is in those
 * sections is told there, once, and not again for every agent that takes it over.
 */
import { TOOL_NAME } from "../lifecycle/contribution-problems.ts";
import { DEFAULT_AGENT } from "./agent-schema.ts";
import { type NamedAgent, type ResolvedAgent, resolveAgents } from "./agents.ts";
import type { CoreConfig } from "./core-schema.ts";
import { badKey, badValue, type Finding, wrongItems } from "./finding.ts";
import type { LoadedSection } from "./loaded-config.ts";
import { modelFaults } from "./model-rules.ts";
import { isPlainPath, PLAIN_PATH } from "./path-rules.ts";
import { keyText, type Path } from "./table.ts";

/** Nothing is said while a section that agents are made of is not valid by itself. */
export function agentRules(core: Partial<CoreConfig>): Finding[] {
  if (!hasNeeded(core)) return [];
  const agents = resolveAgents(core as CoreConfig).values();
  return [
    ...ownModelFaults(core),
    ...agents.flatMap((agent) => costRules(agent, core)),
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
  const mended = Object.fromEntries(modelFaults(core.model, ["model"]).map(({ path }) => [String(path.at(-1)), "x"]));
  const agents = resolveAgents({ ...(core as CoreConfig), model: { ...core.model, ...mended } });
  return [...agents.values()]
    .filter(({ name }) => name !== DEFAULT_AGENT)
    .flatMap(({ name, model }) => modelFaults(model, ["agents", name, "model"]));
}

/** Without the price nobody could tell when the limit is reached, and it would never be. */
function costRules(agent: ResolvedAgent, core: CoreOfAgents): Finding[] {
  const { name, model, maxCostPerDay } = agent;
  if (maxCostPerDay === undefined || model.provider === "builtin") return [];
  if (model.price !== undefined) return choiceRules(agent, core);
  if (name === DEFAULT_AGENT) return [badValue(["agent", "max_cost_per_day"], `needs ${howToPrice([])}`)];
  const path = ["agents", name];
  const { max_cost_per_day: own, model: ownModel } = core.agents[name] ?? {};
  if (own !== undefined) return [badValue([...path, "max_cost_per_day"], `needs ${howToPrice(path)}`)];
  if (ownModel === undefined) return [];
  return [badValue([...path, "model"], `agent.max_cost_per_day holds here too, and needs ${howToPrice(path)}`)];
}

/** Who may choose a model may spend money on it. */
function choiceRules({ name, choices }: ResolvedAgent, core: CoreOfAgents): Finding[] {
  if (choices.every(({ price }) => price !== undefined)) return [];
  const needs = 'needs the price of each of them: set [prices."…"] with its name in the quotes';
  if (name === DEFAULT_AGENT) return [badValue(["model", "choices"], `agent.max_cost_per_day ${needs}`)];
  const { max_cost_per_day: own, model } = core.agents[name] ?? {};
  const path = ["agents", name];
  if (model?.choices) return [badValue([...path, "model", "choices"], `the limit of cost ${needs}`)];
  // The limit is its own, and the choices are everybody's.
  if (own !== undefined && core.agent.max_cost_per_day === undefined) {
    return [badValue([...path, "max_cost_per_day"], `holds for the models of model.choices too, and ${needs}`)];
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
