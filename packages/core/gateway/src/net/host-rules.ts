/**
 * The Host and Origin rules. A page of any site can make a browser send requests here (DNS rebinding, forms, fetch);
 * what it cannot do is make the browser lie about the name it thinks it is talking to, or about where it comes from.
 */
import { isIPv4, isIPv6 } from "node:net";

export interface HostRules {
  /** Whether this `Host` (or the authority of an absolute request target) is served. */
  allowsHost(host: string): boolean;
  /** Whether this `Origin` may send requests. `null` (sandboxed frames, files) never may. */
  allowsOrigin(origin: string): boolean;
}

export interface HostRulesOptions {
  readonly allowedHosts: readonly string[];
  readonly publicUrl: string | undefined;
  /** The port listened on. */
  readonly port: number;
}

export function hostRules(options: HostRulesOptions): HostRules {
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const names = new Set(["localhost", ...options.allowedHosts.map((host) => splitHost(host)?.name ?? "")]);
  if (publicUrl) names.add(publicUrl.hostname);
  names.delete("");
  const ports = new Set([options.port]);
  if (publicUrl) ports.add(portOf(publicUrl.protocol, publicUrl.port));

  const isServed = (host: string): boolean => {
    const parts = splitHost(host);
    return parts !== undefined && (parts.isLiteral || names.has(parts.name));
  };
  // Nearly every request of a connection names the same host: the last one that passed is remembered.
  let lastServed = "";
  return {
    allowsHost(host) {
      if (host === lastServed) return true;
      if (!isServed(host)) return false;
      lastServed = host;
      return true;
    },
    allowsOrigin(origin) {
      const parts = /^(https?:)\/\/([^/?#@\\]+)$/i.exec(origin);
      const authority = parts?.[2];
      if (!parts?.[1] || !authority || !isServed(authority)) return false;
      return ports.has(portOf(parts[1].toLowerCase(), splitHost(authority)?.port ?? ""));
    },
  };
}

/** `name`, `name:port`, `1.2.3.4:port`, `[v6]:port`. Undefined for anything else, user names and blanks included. */
function splitHost(host: string): { name: string; port: string; isLiteral: boolean } | undefined {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(host);
  if (bracketed?.[1]) {
    if (!isIPv6(bracketed[1]) || bracketed[1].includes("%")) return undefined;
    return { name: bracketed[1].toLowerCase(), port: bracketed[2] ?? "", isLiteral: true };
  }
  const plain = /^([a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(host);
  if (!plain?.[1]) return undefined;
  return { name: plain[1].toLowerCase(), port: plain[2] ?? "", isLiteral: isIPv4(plain[1]) };
}

const portOf = (protocol: string, port: string): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
