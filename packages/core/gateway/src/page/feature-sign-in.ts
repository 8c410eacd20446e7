/** The answer of a feature that found out by its own means who is there: the page is signed in as that device. */
import type { IncomingHttpHeaders } from "node:http";
import type { ClientId, Json } from "@svc/contract";
import { opens } from "../auth/authenticator.ts";
import type { Devices } from "../auth/devices.ts";
import type { PageSessions } from "../auth/page-sessions.ts";
import { errorReply, jsonReply, type Reply } from "../http/reply.ts";
import { openPage } from "./open-page.ts";
import { isOwnPage } from "./own-page.ts";

export interface FeatureSignInDeps {
  readonly devices: Pick<Devices, "ofClient" | "get">;
  readonly pageSessions: Pick<PageSessions, "open" | "idleMs">;
}

export interface SignInAnswer {
  readonly status: number;
  readonly body: { readonly [name: string]: Json };
  readonly clientId: ClientId;
}

const REVOKED = errorReply("UNAUTHORIZED", { message: "The device that this belongs to was revoked." });

/** As `POST /api/session` answers, with the feature's body around it. Rejects with STORE_*. */
export async function featureSignIn(
  { devices, pageSessions }: FeatureSignInDeps,
  { status, body, clientId }: SignInAnswer,
  headers: IncomingHttpHeaders,
): Promise<Reply> {
  // Whoever is being revoked has a name, and may not come in.
  const device = devices.get(devices.ofClient(clientId)?.id ?? "");
  if (device === undefined) return REVOKED;
  if (!opens(device.scope, "read")) return errorReply("FORBIDDEN_SCOPE");
  if (!isOwnPage(headers)) return errorReply("BAD_ORIGIN");
  const opened = await openPage(pageSessions, device, headers);
  return jsonReply(status, { ...body, ...opened.body }, opened.setCookie);
}
