/** `svc status`: what the daemon says of itself; without a daemon, that there is none. */
import type { AgentReport, ChannelStatus, SandboxReport, StatusReport } from "@svc/api";
import { homeOf } from "@svc/config/home";
import { EXIT, SvcError } from "@svc/contract";
import { daemonAt } from "../service/control.ts";
import type { CommandContext } from "../cli/command.ts";
import { lastErrorText } from "../cli/output.ts";

export async function run(context: CommandContext): Promise<number> {
  const home = homeOf(context.env);
  const json = context.options.flag("json");
  try {
    const status = await daemonAt(home.controlSocket)({ name: "status" });
    if (json) context.printJson(status);
    else context.print(lines(status));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "NOT_RUNNING") throw error;
    if (json) context.printJson({ status: "stopped", home: home.root });
    else context.print(`stopped: no daemon runs on ${home.root}\nStart it with: svc daemon`);
    return EXIT.unavailable;
  }
}

function lines(status: StatusReport): string {
  const { sandbox, pairing, turns } = status;
  return [
    `${status.status}: svc ${status.version} (${status.profile}), pid ${status.pid}, up ${status.uptime_secs} s`,
    `  address   ${status.url}`,
    ...(status.public_url === null ? [] : [`  public    ${status.public_url}`]),
    `  home      ${status.home}`,
    `  config    ${status.config}`,
    ...status.agents.map(agentText),
    `  sandbox   ${sandbox.effective}${sandbox.confined ? "" : ` (${sandboxText(sandbox)})`}`,
    `  pairing   ${pairing.required ? "required" : "not required"}, ${pairing.devices} paired`,
    `  turns     ${turns.running} running, ${turns.waiting} waiting`,
    ...(status.channels.length === 0 ? [] : [messagesText(status.messages)]),
    ...proceduresText(status.sops),
    ...(status.approvals.waiting === 0
      ? []
      : [`  approvals ${status.approvals.waiting} to answer: svc approvals list`]),
    ...status.channels.map(channelText),
    ...status.features.map(featureText),
    ...status.warnings.map((warning) => `  warning   ${warning}`),
  ].join("\n");
}

function channelText(channel: ChannelStatus): string {
  const { id, state, callback_urls: urls, signed, last_error: error } = channel;
  const last = lastErrorText(channel, error);
  const more = [...urls, ...(signed === false ? ["NOT SIGNED"] : []), ...(last === "" ? [] : [last])];
  return `  channel   ${[id, state, ...more].join("  ")}`;
}

/** What went wrong with the messages of a channel is told with the channel. */
function featureText(feature: StatusReport["features"][number]): string {
  const last = lastErrorText(feature);
  const reason = feature.reason ? ` (${feature.reason})` : "";
  return `  feature   ${feature.id}: ${feature.state}${reason}${last === "" ? "" : `  ${last}`}`;
}

function messagesText({ waiting, locked, failed, outgoing, dead }: StatusReport["messages"]): string {
  const stuck = failed + dead === 0 ? "" : `; ${failed} failed, ${dead} dead: svc inbox list`;
  const unread = locked === 0 ? "" : ` (${locked} encrypted, without their keys)`;
  return `  messages  ${waiting} to answer${unread}, ${outgoing} to deliver${stuck}`;
}

function proceduresText({ loaded, broken, running, waiting }: StatusReport["sops"]): string[] {
  if (loaded + broken + running + waiting === 0) return [];
  const bad = broken === 0 ? "" : `; ${broken} broken: svc sop validate`;
  return [`  sop       ${loaded} in force, ${running} running, ${waiting} waiting for a person${bad}`];
}

/** The default agent is the model of `[model]`; the others go by their names. What was spent is said where it is known. */
function agentText(agent: AgentReport): string {
  const label = agent.name === "default" ? "model     " : `agent     ${agent.name}: `;
  const { max_cost_per_day: all, client_max_cost_per_day: client } = agent;
  const limit = all === null ? "" : ` of $${all}`;
  const ofClient = client === null || client === all ? "" : `, at most $${client} for one client`;
  const isSaid = agent.cost_today_usd > 0 || limit + ofClient !== "";
  const spent = isSaid ? `, $${agent.cost_today_usd.toFixed(4)}${limit} today${ofClient}` : "";
  return `  ${label}${agent.model} by ${agent.provider}${agent.price_known ? spent : " (price unknown)"}`;
}

const sandboxText = ({ summary, fix }: SandboxReport): string =>
  fix === null ? summary : `${summary} To confine commands: ${fix}`;
