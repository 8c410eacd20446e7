/** The connection to the platform: to the checked address, even if the name resolves differently meanwhile. */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIPv6 } from "node:net";

/** Connects to the address that was checked, and to no other. */
export function pinnedAgent(url: string, address: string): HttpsAgent {
  const family = isIPv6(address) ? 6 : 4;
  const lookup = (
    _host: string,
    options: { readonly all?: boolean },
    done: (error: null, found: string | { address: string; family: number }[], family?: number) => void,
  ): void => (options.all === true ? done(null, [{ address, family }]) : done(null, address, family));
  const agent = url.startsWith("wss:") ? new HttpsAgent({ lookup } as object) : new HttpAgent({ lookup } as object);
  return agent as HttpsAgent;
}
