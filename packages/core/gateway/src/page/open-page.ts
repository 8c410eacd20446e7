/** A sign-in of the page as it is handed over: one secret to the browser, the other to the page. */
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "@svc/contract";
import type { Device } from "@svc/store";
import type { PageSessions } from "../auth/page-sessions.ts";
import { sessionCookie } from "../auth/session-cookie.ts";

export interface OpenedPage {
  /** `csrf` and `device`. */
  readonly body: { readonly [name: string]: Json };
  /** Name and value of a header. */
  readonly setCookie: readonly [string, string];
}

/** Rejects with STORE_*, and UNAUTHORIZED for a device that was revoked meanwhile. */
export async function openPage(
  sessions: Pick<PageSessions, "open">,
  device: Device,
  { origin }: IncomingHttpHeaders,
): Promise<OpenedPage> {
  const { cookie, csrf } = await sessions.open(device);
  // A browser tells where the page is from, and nobody else's cookie is at stake: behind a proxy, who could say it better?
  const isSecure = origin?.toLowerCase().startsWith("https:") === true;
  return { body: { csrf, device: shownDevice(device) }, setCookie: ["set-cookie", sessionCookie(cookie, isSecure)] };
}

export const shownDevice = ({ id, name, scope }: Device): Json => ({ id, name, scope });
