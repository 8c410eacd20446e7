/** Why passkeys can't be used on this page, found out before anybody is asked for a finger. */
export interface Obstacle {
  /** A sentence or two. */
  readonly text: string;
  /** Where it would work. */
  readonly href?: string;
}

type Surroundings = Pick<Window, "isSecureContext" | "location"> & { readonly PublicKeyCredential?: unknown };

/** undefined: there is none that can be seen from here. */
export function obstacleOn(window: Surroundings): Obstacle | undefined {
  const { hostname, port, protocol } = window.location;
  if (/^127(?:\.\d+){3}$|^\[::1\]$/.test(hostname)) {
    const text = "Browsers use no passkeys on an IP address. On this machine they work at";
    return { text, href: `${protocol}//localhost${port === "" ? "" : `:${port}`}/` };
  }
  if (/^[\d.]+$|^\[/.test(hostname)) {
    return { text: "Browsers use no passkeys on an IP address: open the page by its name, over https." };
  }
  if (!window.isSecureContext)
    return { text: "Browsers use passkeys over https only: open the page by its https address." };
  if (window.PublicKeyCredential === undefined) return { text: "This browser has no passkeys." };
  return undefined;
}
