/** Who may bring messages by the channels: whether deliveries are proven, and whether a platform can call at all. */
import { type Finding, ok, warning } from "../finding.ts";
import { unsignedChannels } from "./senders.ts";
import type { Settings } from "./settings.ts";

export function channelFindings(settings: Settings): Finding[] {
  const { config, ingress } = settings;
  if (ingress === undefined || ingress.length === 0) return [];
  return [...signatures(settings), reachable(config.core.gateway)];
}

const ID = "channel-signatures";

function signatures(settings: Settings): Finding[] {
  const messages = unsignedChannels(settings, "messages");
  const notices = unsignedChannels(settings, "notices");
  if (messages.length + notices.length === 0) {
    return [ok(ID, "Every delivery of a platform has to prove where it comes from.")];
  }
  const fix = "set its secret (the channel's page says which), or gateway.require_signatures = true";
  if (settings.config.core.gateway.require_signatures) {
    const message = `Every delivery to ${sections([...messages, ...notices])} is refused: its secret is not set, and gateway.require_signatures is on.`;
    return [warning(ID, message, `set its secret; the channel's page says which, and: svc config schema`)];
  }
  const anyone = `Anyone who finds the address can write to the agent in a platform's name: ${sections(messages)} has no secret.`;
  const look = `Anyone who finds the address can make ${sections(notices)} look for news at any time: it has no secret.`;
  return [
    ...(messages.length > 0 ? [warning(ID, anyone, fix)] : []),
    ...(notices.length > 0 ? [warning(ID, look, fix)] : []),
  ];
}

const sections = (channels: readonly string[]): string =>
  channels.map((channel) => `[channels_config.${channel}]`).join(" and ");

function reachable({ public_url: url }: Settings["config"]["core"]["gateway"]): Finding {
  const id = "channel-callbacks";
  if (url === undefined) {
    const message = "Platforms can't call this service: gateway.public_url is not set.";
    return warning(
      id,
      message,
      "put a reverse proxy with TLS in front, and: svc config set gateway.public_url https://…",
    );
  }
  if (new URL(url).protocol === "https:") return ok(id, "The addresses that platforms call are https.");
  return warning(id, "Platforms call https addresses only; gateway.public_url is http.", "set it to https://…");
}
