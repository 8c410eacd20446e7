/** A sign-in of the page as it is handed over: one secret to the browser, the other to the page. */
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "@svc/contract";
import type { Device } from "@svc/store";
import type { PageSessions } from "../auth/page-sessions.ts";
import { sessionCookie } from "../auth/session-cookie.ts";
import { browserName } from "./browser-name.ts";

export interface OpenedPage {
  /** `csrf` and `device`. */
  readonly body: { readonly [name: string]: Json };
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

export const shownDevice = ({ id, name, scope }: Device): Json => ({ id, name, scope });
