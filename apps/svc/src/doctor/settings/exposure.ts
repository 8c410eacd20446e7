/** Who can reach the service from elsewhere, and whose forwarding headers are believed. */
import { BlockList, isIP } from "node:net";
import { isPublicBind } from "@svc/gateway";
import { error, type Finding, note, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

const PRIVATE: readonly (readonly [address: string, bits: number])[] = [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
];
/** What one site may have; a proxy in a wider public block has strangers as neighbours. */
const WIDEST_PUBLIC_BITS = { 4: 24, 6: 48 } as const;

/** Whoever can send a forwarding header that is believed chooses the address that limits and lockouts count by. */
export function proxyFindings({ config }: Settings): Finding[] {
  const { host, trust_forwarded_headers: trusts, trusted_proxies: blocks } = config.core.gateway;
  if (!trusts) return [ok("trusted-proxies", "No forwarding header is believed.")];
  const fix = "set gateway.trusted_proxies to the address of the proxy";
  if (blocks.some(isWide)) {
    const message = "gateway.trusted_proxies holds a block so wide that strangers are in it.";
    return [error("trusted-proxies", message, fix)];
  }
  if (isPublicBind(host) && blocks.some((block) => !isSingle(block) && !isLoopback(block))) {
    const message = "Every machine in the blocks of gateway.trusted_proxies can pretend to be any client.";
    return [warning("trusted-proxies", message, fix)];
  }
  return [ok("trusted-proxies", "Only the proxies that are named are believed.")];
}

/** True when more than a private range, or a public block wider than one site, is in it. */
export function isWide(block: string): boolean {
  const { address, bits, version } = parsed(block);
  if (PRIVATE.some((range) => version === isIP(range[0]) && bits >= range[1] && isIn(address, range))) return false;
  return bits < WIDEST_PUBLIC_BITS[version];
}

const isSingle = (block: string): boolean => {
  const { bits, version } = parsed(block);
  return bits === (version === 4 ? 32 : 128);
};

const isLoopback = (block: string): boolean => {
  const { address, bits } = parsed(block);
  return bits >= 8 && isIn(address, ["127.0.0.0", 8]);
};

function isIn(address: string, [network, bits]: readonly [string, number]): boolean {
  const list = new BlockList();
  const family = isIP(network) === 4 ? "ipv4" : "ipv6";
  list.addSubnet(network, bits, family);
  return isIP(address) === isIP(network) && list.check(address, family);
}

/** The config check has been here: it is an address or a block. */
function parsed(block: string): { address: string; bits: number; version: 4 | 6 } {
  const [address = "", bits] = block.split("/");
  const version = isIP(address) === 4 ? 4 : 6;
  return { address, bits: bits === undefined ? (version === 4 ? 32 : 128) : Number(bits), version };
}

/** Who can reach the service from elsewhere: what it listens on, and by which names and addresses it is asked for. */
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
