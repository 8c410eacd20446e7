/** The public paths of channels: those with a channel behind them, and those that tell that there is none. */
import { SvcError } from "@svc/contract";
import type { Ongoing, RegisteredIngress } from "@svc/kernel";
import type { Handle } from "../http/listener.ts";
import { errorReply } from "../http/reply.ts";
import type { Lasting } from "../lasting.ts";
import type { GatewaySettings } from "../types.ts";
import { ChannelPath } from "./channel-path.ts";
import type { IngressPath } from "./ingress-paths.ts";
import { CHANNEL_DOWN, Refusals } from "./refusals.ts";

/** `taken`: core's own. Throws FEATURE_CONFLICT naming every path that is one of those, or is claimed twice. */
export function channelPaths(
  settings: GatewaySettings,
  lasting: Lasting,
  ongoing: Ongoing,
  taken: readonly string[],
): ReadonlyMap<string, Handle> {
  checkClaims(settings.ingress, taken);
  const unconfigured = Array.from(settings.ingressPaths, ([path, owner]) => [path, nothingAt(owner, lasting)] as const);
  const configured = settings.ingress.map(
    (way) => [way.ingress.path, channelAt(way, settings, lasting, ongoing)] as const,
  );
  const free = unconfigured.filter(([path]) => !taken.includes(path));
  return new Map([...free, ...configured]);
}

function checkClaims(ways: readonly RegisteredIngress[], taken: readonly string[]): void {
  const known = new Set(taken);
  const problems: string[] = [];
  for (const { feature, ingress } of ways) {
    if (known.has(ingress.path)) problems.push(`${ingress.path} of ${feature} is taken`);
    known.add(ingress.path);
  }
  if (problems.length > 0) throw new SvcError("FEATURE_CONFLICT", `${problems.join("; ")}.`);
}

/** A channel that is configured and could not even be registered is down, not missing: its platform shall try again. */
function nothingAt({ feature, title }: IngressPath, { deps }: Lasting): Handle {
  const missing = errorReply("NOT_CONFIGURED", { message: `${title} not configured` });
  return () => (deps.isUp(feature) ? missing : CHANNEL_DOWN);
}

function channelAt(way: RegisteredIngress, { config }: GatewaySettings, lasting: Lasting, ongoing: Ongoing): Handle {
  const { deps, rareLines, bodyRoom, isDraining, send } = lasting;
  const path = new ChannelPath(way, {
    inbox: deps.inbox,
    sops: deps.sops,
    isUp: (feature) => deps.isUp(feature),
    isDraining,
    requireSignatures: config.require_signatures,
    maxBodyBytes: config.max_body_bytes,
    bodyRoom,
    ongoing,
    refusals: new Refusals(way, rareLines, deps.log),
    send,
    clock: deps.clock,
  });
  return (incoming, outgoing) => path.handle(incoming, outgoing);
}
