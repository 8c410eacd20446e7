/** Whether a browser can use passkeys on this page, and why not. */
import type { SignInFeatures } from "@svc/api";
import { PASSKEYS } from "../client/passkeys.ts";
import { useReader } from "../state/use-reader.ts";
import { t } from "../texts/texts.ts";

/** Whether a passkey can sign in; undefined: not known yet. */
export function usePasskeySignIn(): boolean | undefined {
  const { data } = useReader("ways", [], (api, signal) => api.get<SignInFeatures>("/api/session/ways", {}, signal));
  return data?.features.includes(PASSKEYS);
}

/** Why passkeys can't be used on this page, checked before the browser's dialog opens. */
export interface Obstacle {
  /** One or two sentences. */
  readonly text: string;
  /** An address on which it would work. */
  readonly href?: string;
}

type PageEnvironment = Pick<Window, "isSecureContext" | "location"> & { readonly PublicKeyCredential?: unknown };

/** Undefined: no obstacle found. */
export function obstacleOn(window: PageEnvironment): Obstacle | undefined {
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

/** Shows the obstacle. */
export const ObstacleNote = ({ obstacle: { text, href } }: { readonly obstacle: Obstacle }) => (
  <p class="hint">
    {text} {href === undefined ? null : <a href={href}>{href}</a>}
  </p>
);
