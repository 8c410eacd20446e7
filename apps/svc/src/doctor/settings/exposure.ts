/** Who can reach the service, and what they have to show. */
import { isPublicBind } from "@svc/gateway";
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function exposureFindings({ config }: Settings): Finding[] {
  const { gateway, "channels_config.webhook": webhook, "security.net": net } = config.core;
  const shared = webhook.secret !== undefined || webhook.signing_secret !== undefined;
  return [
    pairing(gateway.require_pairing, shared, gateway.public_url !== undefined),
    isPublicBind(gateway.host)
      ? warning(
          "public-bind",
          "gateway.host lets other machines in, without TLS.",
          'set gateway.host = "127.0.0.1" and put a reverse proxy with TLS in front',
        )
      : ok("public-bind", "Only this machine reaches the gateway's port."),
    shared || gateway.require_signatures
      ? ok("webhook-secret", "POST /webhook needs a secret or a signature, or is refused.")
      : warning(
          "webhook-secret",
          "POST /webhook takes messages without a secret or a signature.",
          "set secret or signing_secret in [channels_config.webhook], or gateway.require_signatures = true",
        ),
    net.allow_private.length > 0
      ? warning(
          "allow-private",
          `Outgoing requests may reach ${count(net.allow_private.length, "private address")}.`,
          "take what is not needed out of security.net.allow_private",
        )
      : ok("allow-private", "Outgoing requests reach no private address."),
  ];
}

function pairing(required: boolean, shared: boolean, isPublic: boolean): Finding {
  if (required) return ok("require-pairing", "POST /webhook needs a paired device's token.");
  const message = "POST /webhook needs no token (gateway.require_pairing = false)";
  const fix = "set gateway.require_pairing = true";
  if (shared) return warning("require-pairing", `${message}, only what [channels_config.webhook] asks for.`, fix);
  const open = `${message}, no secret and no signature`;
  return isPublic
    ? error("require-pairing", `${open}, while gateway.public_url is set.`, fix)
    : warning("require-pairing", `${open}: every program on this machine may use the agent.`, fix);
}

const count = (number: number, name: string): string => `${number} ${name}${number === 1 ? "" : "es"}`;
