/** Who may bring messages by the channels: whether deliveries are proven, and whether a platform can call at all. */
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function channelFindings({ config, ingress }: Settings): Finding[] {
  if (ingress === undefined || ingress.length === 0) return [];
  return [signatures(config.core.gateway.require_signatures, unproven(ingress)), reachable(config.core.gateway)];
}

type Ways = NonNullable<Settings["ingress"]>;

const unproven = (ingress: Ways): string[] => [
  ...new Set(ingress.filter(({ ingress: way }) => !way.signed).map(({ channel }) => channel)),
];

function signatures(required: boolean, unsigned: readonly string[]): Finding {
  const id = "channel-signatures";
  if (unsigned.length === 0) return ok(id, "Every delivery of a platform has to prove where it comes from.");
  const sections = unsigned.map((channel) => `[channels_config.${channel}]`).join(" and ");
  if (required) {
    const message = `Every delivery to ${sections} is refused: its secret is not set, and gateway.require_signatures is on.`;
    return warning(id, message, `set its secret; the channel's page says which, and: svc config schema`);
  }
  const message = `Whoever finds the address can write to the agent in a platform's name: ${sections} has no secret.`;
  return warning(id, message, "set its secret (the channel's page says which), or gateway.require_signatures = true");
}

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
