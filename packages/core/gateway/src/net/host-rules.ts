/**
 * The Host and Origin rules. A page of any site can make a browser send requests here (DNS rebinding, forms, fetch);
 * what it cannot do is make the browser lie about the name it thinks it is talking to, or about where it comes from.
 */
import { isIPv4, isIPv6 } from "node:net";

export interface HostRules {
  /** Whether this `Host` (or the authority of an absolute request target) is served. */
  allowsHost(host: string): boolean;
  /**
   * Whether this `Origin` may send requests to this `Host`. `null` (sandboxed frames, files) never may. An address counts
   * only where it is the Host too: any machine of the network may have a page at an address and our port.
   */
  allowsOrigin(origin: string, host: string | undefined): boolean;
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
  const publicPort = publicUrl && portOf(publicUrl.protocol, publicUrl.port);
  // Behind the proxy's port of `localhost` is another program of this machine, unless the public URL says so itself.
  const isPort = (name: string, port: number): boolean =>
    port === options.port || (port === publicPort && (name !== "localhost" || publicUrl?.hostname === "localhost"));

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
    allowsOrigin(origin, host) {
      const [, scheme = "", authority = ""] = /^(https?:)\/\/([^/?#@\\]+)$/i.exec(origin) ?? [];
      const parts = splitHost(authority);
      if (!parts || !isServed(authority)) return false;
      if (parts.isLiteral && authority.toLowerCase() !== host?.toLowerCase()) return false;
      return isPort(parts.name, portOf(scheme.toLowerCase(), parts.port));
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
