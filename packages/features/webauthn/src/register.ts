/** `POST /api/webauthn/register/start` and `…/finish`: a paired device gets a passkey. */
import { randomBytes } from "node:crypto";
import { type Json, type Route, type RouteCaller, SvcError } from "@svc/contract";
import * as v from "valibot";
import { checkClientData, clientDataOf } from "./client-data.ts";
import { REGISTRATION, type Registration, USER_ID, USER_NAME } from "./fields.ts";
import type { House } from "./house.ts";
import { CREATION_OPTIONS, creationOptions } from "./options.ts";
import { briefly, PASSKEY, type Passkey, shown } from "./passkey.ts";

const START = v.object({ user_id: USER_ID, user_name: USER_NAME });

const HANDLE_BYTES = 32;

export function registerStart({ party, challenges, passkeys }: House): Route {
  return {
    method: "POST",
    path: "/api/webauthn/register/start",
    access: "read",
    doc: {
      summary: "Starts adding a passkey: returns the options for the browser.",
      body: START,
      answers: { 200: { description: "Options for the browser.", body: CREATION_OPTIONS } },
      errors: ["PASSKEY_REFUSED", "PASSKEY_UNKNOWN", "PASSKEY_LIMIT", "STORE_FULL", "STORE_FAILED"],
    },
    async handle({ caller, body, origin: asked }) {
      const { user_id: userId, user_name: userName } = body as v.InferOutput<typeof START>;
      const client = deviceOf(caller);
      const rp = party();
      const origin = rp.originFor(asked);
      await passkeys.checkRoom({ owner: client, userId });
      const existing = await passkeys.list({ owner: client, userId });
      // Authenticators show the passkeys of one handle as one account.
      const handle = existing[0]?.handle ?? randomBytes(HANDLE_BYTES).toString("base64url");
      const challenge = challenges.issue({ purpose: "register", client, origin, userId, userName, handle });
      const options = creationOptions(rp, { challenge, handle, userName, existing });
      return { status: 200, body: options as unknown as Json };
    },
  };
}

export function registerFinish({ party, challenges, passkeys, clock, log }: House): Route {
  return {
    method: "POST",
    path: "/api/webauthn/register/finish",
    access: "read",
    doc: {
      summary:
        "Adds the passkey that the browser made; the body is its RegistrationResponseJSON, with a name if wanted.",
      body: REGISTRATION,
      answers: { 201: { description: "The passkey.", body: PASSKEY } },
      errors: [
        "PASSKEY_REFUSED",
        "PASSKEY_EXPIRED",
        "PASSKEY_UNKNOWN",
        "PASSKEY_LIMIT",
        "RATE_LIMITED",
        "STORE_FULL",
        "STORE_FAILED",
      ],
    },
    async handle({ caller, body }) {
      const answer = body as unknown as Registration;
      const owner = deviceOf(caller);
      const data = clientDataOf(answer.response.clientDataJSON);
      const { challenge } = data;
      const { origin, userId = "", userName = "", handle = "" } = await challenges.redeem(challenge, "register", owner);
      checkClientData(data, { type: "webauthn.create", origin });
      const { verifiedRegistration } = await import("./verify.ts");
      const made = await verifiedRegistration(answer, { challenge, origin, rpId: party().id });
      const passkey: Passkey = {
        ...made,
        userId,
        userName,
        owner,
        handle,
        name: answer.name ?? freeName(await passkeys.list({ owner, userId })),
        transports: answer.response.transports ?? [],
        createdAtMs: clock.now(),
        lastUsedAtMs: null,
        suspectSinceMs: null,
      };
      await passkeys.add(passkey);
      log.info("a passkey was added", { passkey: briefly(passkey) });
      return { status: 201, body: shown(passkey) };
    },
  };
}

/** Throws UNAUTHORIZED: a passkey is a device's, and nobody else has one to add. */
function deviceOf(caller: RouteCaller) {
  if (caller.kind === "device") return caller.clientId;
  throw new SvcError("UNAUTHORIZED", "A passkey belongs to a paired device, which has to add it itself.");
}

function freeName(existing: readonly Passkey[]): string {
  const taken = new Set(existing.map(({ name }) => name));
  let number = 1;
  while (taken.has(`Passkey ${number}`)) number += 1;
  return `Passkey ${number}`;
}
