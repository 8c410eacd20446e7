/** A sign-in of the page as it is handed over, and which requests a page of ours sent. */
import type { IncomingHttpHeaders } from "node:http";
import type { PageDevice, SignIn } from "@svc/api";
import { SvcError } from "@svc/contract";
import type { Device } from "@svc/store";
import { type PageSessions, sessionCookie } from "./page-sessions.ts";

export interface OpenedPage {
  readonly body: SignIn;
  /** Name and value of a header. */
  readonly setCookie: readonly [string, string];
}

/** Rejects with STORE_*, and UNAUTHORIZED for a device that was revoked meanwhile. */
export async function openPage(
  sessions: Pick<PageSessions, "open" | "idleMs">,
  device: Device,
  headers: IncomingHttpHeaders,
): Promise<OpenedPage> {
  // Only the browser knows the scheme: a proxy may end TLS before the gateway.
  const isSecure = headers.origin?.toLowerCase().startsWith("https:") === true;
  const browser = browserName(headers["user-agent"]);
  const { cookie, csrf } = await sessions.open(device, { browser, isSecure });
  return openedPage(sessions, { cookie, csrf, device, isSecure });
}

export interface PageHandover {
  readonly cookie: string;
  readonly csrf: string;
  readonly device: Device;
  readonly isSecure: boolean;
}

/** The cookie is set anew each time, so that the browser keeps it as long as the sign-in lasts. */
export const openedPage = (
  { idleMs }: Pick<PageSessions, "idleMs">,
  { cookie, csrf, device, isSecure }: PageHandover,
): OpenedPage => ({
  body: { csrf, device: shownDevice(device) },
  setCookie: ["set-cookie", sessionCookie(cookie, isSecure, idleMs)],
});

/** Throws FORBIDDEN_SCOPE for a program's device: no page signs in as one. */
export function shownDevice({ id, name, scope }: Device): PageDevice {
  if (scope === "webhook") throw new SvcError("FORBIDDEN_SCOPE");
  return { id, name, scope };
}

// Who made a browser ask. The host check has refused every Origin that is not ours, and takes requests without one.

/** A page of ours in a browser, which tells where it is from; one that also tells how the two are related says that they are one. */
export const isOwnPage = (headers: IncomingHttpHeaders): boolean =>
  headers.origin !== undefined && isNobodyElses(headers);

/** The same for a request that may lack an Origin: a browser sends none with a GET of its own page. */
export const isSurelyOwnPage = (headers: IncomingHttpHeaders): boolean =>
  headers["sec-fetch-site"] === "same-origin" || isOwnPage(headers);

/** A page of ours, or no browser at all: `Sec-Fetch-Site` can't be left out or made up by a page. */
export const isNobodyElses = ({ "sec-fetch-site": site }: IncomingHttpHeaders): boolean =>
  site === undefined || site === "same-origin";

// The default name of a browser in the list of devices. The User-Agent itself is not stored.

/** The order matters: most browsers also name others in their User-Agent. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\/|\bEdgiOS\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\b(?:Headless)?Chrome\/|\bCriOS\/|\bChromium\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** `Firefox on Linux`, of a `User-Agent`. */
export function browserName(userAgent: string | undefined): string {
  const browser = nameIn(BROWSERS, userAgent) ?? "Browser";
  const system = nameIn(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}

const nameIn = (names: readonly (readonly [RegExp, string])[], text = ""): string | undefined =>
  names.find(([pattern]) => pattern.test(text))?.[1];
