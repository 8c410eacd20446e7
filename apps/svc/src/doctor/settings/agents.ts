/** Who answers, what it costs, and what it may spend. */
import { DEFAULT_AGENT, type ResolvedAgent } from "@svc/kernel";
import { error, type Finding, ok, warning } from "../finding.ts";
import { agentsOf, keyOf, type Settings } from "./settings.ts";

export function agentFindings(settings: Settings): Finding[] {
  return agentsOf(settings).flatMap((agent) => [modelFinding(agent), ...moneyFindings(agent)]);
}

function modelFinding({ name, model }: ResolvedAgent): Finding {
  if (model.provider !== "builtin") return ok("model", `The agent ${name} is ${model.name} by ${model.provider}.`);
  const message = `The agent ${name} uses the built-in model, which only repeats messages.`;
  if (name !== DEFAULT_AGENT) return ok("model", message);
  return warning("model", message, "set provider, name and api_key in [model]");
}

function moneyFindings(agent: ResolvedAgent): Finding[] {
  const { name, model, maxCostPerDay, clientMaxCostPerDay } = agent;
  if (model.provider === "builtin") return [];
  const limit = keyOf(agent, "agent", "max_cost_per_day");
  const known = model.price !== undefined;
  return [
    known
      ? ok("price", `The price of ${model.name} is known.`)
      : warning(
          "price",
          `The price of ${model.name} is UNKNOWN: what the agent ${name} costs is not counted.`,
          `set input_per_million and output_per_million in [prices.${JSON.stringify(model.name)}]`,
        ),
    maxCostPerDay === undefined && clientMaxCostPerDay === undefined
      ? ok("budget", `The agent ${name} has no limit of cost (${limit}).`)
      : known
        ? ok("budget", `The agent ${name} may spend ${limitText(agent)}.`)
        : error(
            "budget",
            `The agent ${name} may spend ${limitText(agent)}, but without a price it is refused every turn.`,
            `set the price of ${model.name}, or remove ${limit}`,
          ),
  ];
}

/** A client's limit that is the agent's own is no second one. */
function limitText({ maxCostPerDay: all, clientMaxCostPerDay: client }: ResolvedAgent): string {
  if (client === undefined || client === all) return `$${all} a day`;
  return all === undefined ? `$${client} a day for each client` : `$${all} a day, $${client} of it for one client`;
}
