/** Hosts that a plugin names: each in the one spelling that is compared, so that what a person approves is what is reached. */

/** `example.org`, `example.org:8443`, `192.0.2.1`, `[2001:db8::1]:8443`: as a URL parser spells it, no wildcard. */
export function isHostName(text: string): boolean {
  if (text.length > 255 || !/^[a-z0-9.:[\]_-]+$/.test(text) || !URL.canParse(`https://${text}/`)) return false;
  const url = new URL(`https://${text}/`);
  // The scheme's own port and other spellings of an address are gone in `host`.
  return url.host === text && !url.port.startsWith("0") && !/^\.|\.$|\.\./.test(url.hostname) && !text.endsWith(":80");
}

/** As somebody typed it: capital letters are no other host. */
export const asHostName = (text: string): string => text.trim().toLowerCase();
