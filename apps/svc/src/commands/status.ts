/** `svc status`: what the daemon says of itself; without a daemon, that there is none. */
import { EXIT, type Json, SvcError } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { homeOf } from "@svc/kernel";
import type { CommandContext } from "../cli/command.ts";

export async function run(context: CommandContext): Promise<number> {
  const home = homeOf(context.env);
  const json = context.options.flag("json");
  try {
    const status = (await callDaemon({ socketFile: home.controlSocket, name: "status" })) as Status;
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

interface Status {
  readonly [key: string]: Json;
  readonly status: string;
  readonly version: string;
  readonly profile: string;
  readonly pid: number;
  readonly uptime_secs: number;
  readonly url: string;
  readonly home: string;
  readonly config: string;
  readonly model: { provider: string; name: string; price_known: boolean };
  readonly sandbox: { effective: string; warning: string | null };
  readonly pairing: { required: boolean; devices: number };
  readonly turns: { running: number; waiting: number };
  readonly warnings: string[];
  readonly features: { id: string; state: string; reason: string | null; restarts: number }[];
}

function lines(status: Status): string {
  const { model, sandbox, pairing, turns } = status;
  return [
    `${status.status}: svc ${status.version} (${status.profile}), pid ${status.pid}, up ${status.uptime_secs} s`,
    `  address   ${status.url}`,
    `  home      ${status.home}`,
    `  config    ${status.config}`,
    `  model     ${model.name} by ${model.provider}${model.price_known ? "" : " (price unknown)"}`,
    `  sandbox   ${sandbox.effective}${sandbox.warning ? ` (${sandbox.warning})` : ""}`,
    `  pairing   ${pairing.required ? "required" : "not required"}, ${pairing.devices} paired`,
    `  turns     ${turns.running} running, ${turns.waiting} waiting`,
    ...status.features.map(
      (feature) => `  feature   ${feature.id}: ${feature.state}${feature.reason ? ` (${feature.reason})` : ""}`,
    ),
    ...status.warnings.map((warning) => `  warning   ${warning}`),
  ].join("\n");
}
