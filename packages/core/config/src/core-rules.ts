/**
 * What core's values must be to each other, beyond their schemas. The parts that use the values check them again where it
 * matters; here they are found with everything else that is wrong, with their line, and by `svc config check`.
 */
import { isIPv4 } from "node:net";
import { TOOL_NAME, isWebhookKey } from "@svc/contract";
import type { CoreConfig } from "./core-schema.ts";
import { type Finding, badKey, badValue, wrongItems } from "./problem.ts";
import { DEFAULT_AGENT } from "./agent-schema.ts";
import { type NamedAgent, type ResolvedAgent, resolveAgents } from "./agents.ts";
import type { LoadedSection } from "./loaded-config.ts";
import { type Path, keyText } from "./table.ts";

/** Findings over the sections that are valid by themselves. */
export function coreRules(core: Partial<CoreConfig>): Finding[] {
  return [
    ...(core.gateway ? [...bindRules(core.gateway), ...proxyRules(core.gateway)] : []),
    ...(core.model ? modelFaults(core.model, ["model"]) : []),
    ...(core["channels_config.webhook"] ? signingRules(core["channels_config.webhook"]) : []),
    ...(core["security.policy"] ? pathRules(core["security.policy"]) : []),
    ...(core["security.net"] ? privateRules(core["security.net"]) : []),
    // A blank path would be the home itself, with the database and the key in it.
    ...(core.workspace?.path?.trim() === "" ? [badValue(["workspace", "path"], "must be a path, not blank")] : []),
    ...(core.transcription?.enabled ? speechRules("transcription", core.transcription) : []),
    ...(core.tts?.enabled ? speechRules("tts", core.tts) : []),
    ...agentRules(core),
  ];
}

function bindRules({ host, allow_public_bind, require_pairing }: CoreConfig["gateway"]): Finding[] {
  if (host.toLowerCase() === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."))) return [];
  // What else is loopback (::ffff:127.0.0.1 and its like) is the gateway's to judge: here only what surely is not.
  if (/^::ffff:/i.test(host) || /^[0:]*:0*1$/.test(host)) return [];
  const at = { code: "PUBLIC_BIND" } as const;
  if (!require_pairing) {
    const message = "false is only for a gateway bound to loopback";
    return [badValue(["gateway", "require_pairing"], message, at)];
  }
  const message = "binding an address that other machines can reach needs gateway.allow_public_bind = true";
  return allow_public_bind ? [] : [badValue(["gateway", "host"], message, at)];
}

const OPENAI = "https://api.openai.com/v1";

/** Who is chosen has what it needs, and nothing is set that would do nothing. */
function speechRules(
  section: "transcription" | "tts",
  { provider, command, base_url: baseUrl }: CoreConfig["transcription" | "tts"],
): Finding[] {
  if (provider !== "command") {
    if (command) return [badValue([section, "command"], 'needs provider = "command"', { at: "key" })];
    if (provider === "openai" || baseUrl !== OPENAI) return [];
    return [badValue([section, "provider"], "openai-compatible needs base_url, the address of the service")];
  }
  if (!command) return [badValue([section, "provider"], "command needs command, a program and its arguments")];
  if (command[0]!.includes("{")) return [badValue([section, "command", 0], "must be a program")];
  if (section === "tts" || command.some((word) => /\{(?:file|wav)\}/.test(word))) return [];
  return [badValue([section, "command"], "must have {file} or {wav}, which become the path of the recording")];
}

const proxyRules = ({ trusted_proxies: blocks }: CoreConfig["gateway"]): Finding[] =>
  wrongItems(["gateway", "trusted_proxies"], blocks, isBlock, "must be an IP address or a CIDR block");

function isBlock(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const most = isIPv4(address) ? 32 : isIPv6(address) ? 128 : undefined;
  if (most === undefined || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

/** By the parser of URLs: the pattern of node:net takes longer to compile than the whole config to load. */
const isIPv6 = (text: string): boolean => /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`);

const signingRules = ({ signing_secret: secret = "" }: CoreConfig["channels_config.webhook"]): Finding[] =>
  isWebhookKey(secret)
    ? []
    : [badValue(["channels_config", "webhook", "signing_secret"], "what follows whsec_ must be base64")];

const pathRules = ({ forbidden_paths: paths }: CoreConfig["security.policy"]): Finding[] =>
  wrongItems(["security", "policy", "forbidden_paths"], paths, isPlainPath, PLAIN_PATH);

const privateRules = ({ allow_private: entries }: CoreConfig["security.net"]): Finding[] =>
  wrongItems(["security", "net", "allow_private"], entries, isHostPort, 'must be "host:port"');

function isHostPort(entry: string): boolean {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/@?#[\]\\]+):([0-9]{1,5})$/i.exec(entry.trim());
  const port = Number(match?.[2]);
  return match !== null && URL.canParse(`http://${match[0]}`) && port >= 1 && port <= 65_535;
}

// What must be true of the agents once what each leaves out is taken from everybody's sections. A mistake that is in those sections is told
// there, once, and not again for every agent that takes it over.

/** Nothing is said while a section that agents are made of is not valid by itself. */
function agentRules(core: Partial<CoreConfig>): Finding[] {
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
function modelFaults({ provider, name, base_url, api_key }: ResolvedAgent["model"], path: Path): Finding[] {
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
const PLAIN_PATH = "must be a plain path, absolute or relative to the workspace, without ~ and without patterns";

const isPlainPath = (path: string): boolean => path.trim() !== "" && !/[*?[\]\0]/.test(path) && !path.startsWith("~");
