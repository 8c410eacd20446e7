/** Whether a URL is one of those that the person who installed the plugin has approved. */
import { SvcError } from "@svc/contract";

/** `allowedHosts`: as `InstalledPlugin` has them. Throws ADDRESS_REFUSED, whose message the plugin is told. */
export function approvedUrl(text: string, allowedHosts: readonly string[], base?: string): URL {
  const url = URL.parse(text, base);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw refused("it asked for something that is no http or https URL.");
  }
  if (url.username !== "" || url.password !== "")
    throw refused("it asked for a URL with a user name or password in it.");
  // Without the scheme's own port, as the list has it; a name's capital letters and escapes are gone.
  if (!allowedHosts.includes(url.host))
    throw refused("it asked for a host that was not approved when it was installed.");
  url.hash = "";
  return url;
}

const refused = (message: string): SvcError => new SvcError("ADDRESS_REFUSED", message);
