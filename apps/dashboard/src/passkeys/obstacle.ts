import { t } from "../texts/texts.ts";
/** Why passkeys can't be used on this page, checked before the browser's dialog opens. */
export interface Obstacle {
  /** A sentence or two. */
  readonly text: string;
  /** Where it would work. */
  readonly href?: string;
}

type Surroundings = Pick<Window, "isSecureContext" | "location"> & { readonly PublicKeyCredential?: unknown };

/** undefined: the page sees no obstacle. */
export function obstacleOn(window: Surroundings): Obstacle | undefined {
  const { hostname, port, protocol } = window.location;
  if (/^127(?:\.\d+){3}$|^\[::1\]$/.test(hostname)) {
    const text = t("passkeys.browsers-use-no-passkeys-on");
    return { text, href: `${protocol}//localhost${port === "" ? "" : `:${port}`}/` };
  }
  if (/^[\d.]+$|^\[/.test(hostname)) {
    return { text: t("passkeys.browsers-use-no-passkeys-on-2") };
  }
  if (!window.isSecureContext) return { text: t("passkeys.browsers-use-passkeys-over-https") };
  if (window.PublicKeyCredential === undefined) return { text: t("passkeys.this-browser-has-no-passkeys") };
  return undefined;
}
