/** Whose forwarding headers are believed. Whoever can send one chooses the address that limits and lockouts count by. */
import { BlockList, isIP } from "node:net";
import { isPublicBind } from "@svc/gateway";
import { error, type Finding, ok, warning } from "../finding.ts";
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
