/** Who can reach the service from elsewhere: what it listens on, and by which names and addresses it is asked for. */
import { isPublicBind } from "@svc/gateway";
import { type Finding, note, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function exposureFindings({ config }: Settings): Finding[] {
  const { gateway } = config.core;
  return [
    isPublicBind(gateway.host)
      ? warning(
          "public-bind",
          "gateway.host lets other machines in, without TLS.",
          'set gateway.host = "127.0.0.1" and put a reverse proxy with TLS in front',
        )
      : ok("public-bind", "Only this machine reaches the gateway's port."),
    publicAddress(gateway.public_url),
    gateway.allowed_hosts.length > 0
      ? note(
          "allowed-hosts",
          `The page and the API answer to ${counted(gateway.allowed_hosts.length, "more name")} than localhost and gateway.public_url's.`,
          "take the names that are not this service's out of gateway.allowed_hosts",
        )
      : ok("allowed-hosts", "The page and the API answer to localhost, addresses and gateway.public_url's name only."),
    gateway.webhook_rate_limit_per_minute === 0
      ? warning(
          "rate-limit",
          "POST /webhook takes any number of messages from one client (gateway.webhook_rate_limit_per_minute = 0).",
          "set gateway.webhook_rate_limit_per_minute = 60",
        )
      : ok(
          "rate-limit",
          `POST /webhook takes ${counted(gateway.webhook_rate_limit_per_minute, "message")} a minute from one client.`,
        ),
  ];
}

/** Whether strangers may ask for what needs no token. */
export const isReachable = ({ config }: Settings): boolean =>
  config.core.gateway.public_url !== undefined || isPublicBind(config.core.gateway.host);

/** That it is plain http is told by another finding, security or not. */
function publicAddress(url: string | undefined): Finding {
  const id = "public-address";
  if (url === undefined) return ok(id, "No public name leads here, as far as the config says.");
  const { host, protocol } = new URL(url);
  const tls = protocol === "https:" ? "; TLS is the proxy's, svc itself speaks plain HTTP" : "";
  return note(
    id,
    `Whoever finds ${host} reaches the service${tls}.`,
    "remove gateway.public_url if no provider has to call",
  );
}

export const counted = (number: number, name: string, plural = `${name}s`): string =>
  `${number} ${number === 1 ? name : plural}`;
