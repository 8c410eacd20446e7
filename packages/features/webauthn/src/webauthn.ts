/** Passkeys: an instance of the feature, and its routes. */
import {
  type Contributions,
  type FeatureContext,
  type Json,
  type Route,
  type RouteCaller,
  SvcError,
} from "@svc/contract";
import { Challenges, type UsedChallenges } from "./challenges.ts";
import type { Config } from "./config.ts";
import { type PasskeyDeps, authFinish, authStart, checkClientData, clientDataOf } from "./sign-in.ts";
import { PASSKEY, type Passkey, Passkeys, briefly, isUsable, shown } from "./passkeys.ts";
import { relyingParty } from "./relying-party.ts";
import { randomBytes } from "node:crypto";
import * as v from "valibot";
import {
  CREATION_OPTIONS,
  PASSKEY_NAME,
  REGISTRATION,
  type Registration,
  USER_ID,
  USER_NAME,
  creationOptions,
} from "./ceremony.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, publicUrl, clock, log } = context;
  const passkeys = new Passkeys(context, context.shared<null>("passkeys", null));
  const challenges = new Challenges(clock, context.shared<UsedChallenges>("used-challenges", new Map()));
  const party = () => relyingParty(config, publicUrl);
  const deps: PasskeyDeps = { clock, log, party, challenges, passkeys, signsIn: config.sign_in };
  return {
    routes: [
      registerStart,
      registerFinish,
      authStart,
      authFinish,
      listCredentials,
      renameCredential,
      removeCredential,
    ].map((route) => route(deps)),
    async register(signal) {
      signal.throwIfAborted();
      party();
      await passkeys.sweep(signal);
    },
  };
}

/** `POST /api/webauthn/register/start` and `…/finish`: a paired device gets a passkey. */
const START = v.object({ user_id: USER_ID, user_name: USER_NAME });

const HANDLE_BYTES = 32;

function registerStart({ party, challenges, passkeys }: PasskeyDeps): Route {
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

function registerFinish({ party, challenges, passkeys, clock, log }: PasskeyDeps): Route {
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

/** `/api/webauthn/credentials`: passkeys listed, renamed, removed, by the device that they belong to or by an operator. */
const query = () => ({ user_id: v.optional(USER_ID) });

const LIST = v.object({
  credentials: v.array(
    v.object({
      ...PASSKEY.entries,
      client_id: v.optional(v.pipe(v.string(), v.description("For an operator alone: whose it is."))),
    }),
  ),
});

function listCredentials({ passkeys }: PasskeyDeps): Route {
  return {
    method: "GET",
    path: "/api/webauthn/credentials",
    access: "read",
    doc: {
      summary: "Lists the device's passkeys, of one user_id or all.",
      query: query(),
      answers: { 200: { description: "The passkeys, oldest first.", body: LIST } },
    },
    async handle({ caller, query }) {
      // Another device's user_id gives the same answer as one without passkeys: neither tells that it exists.
      const found = await passkeys.list({ owner: ownerOf(caller), userId: userIdOf(query) });
      const isOperator = caller.kind === "operator";
      return {
        status: 200,
        body: { credentials: found.map((one) => ({ ...shown(one), ...(isOperator && { client_id: one.owner }) })) },
      };
    },
  };
}

const NAME = v.object({ name: PASSKEY_NAME });

function renameCredential({ passkeys }: PasskeyDeps): Route {
  return {
    method: "PUT",
    path: "/api/webauthn/credentials/{id}/name",
    access: "read",
    doc: {
      summary: "Renames a passkey.",
      query: query(),
      body: NAME,
      answers: { 200: { description: "The passkey.", body: PASSKEY } },
      errors: ["PASSKEY_UNKNOWN", "STORE_FULL", "STORE_FAILED"],
    },
    async handle({ caller, params, query, body }) {
      const { name } = body as v.InferOutput<typeof NAME>;
      const renamed = await passkeys.change(whichOf(caller, params, query), (passkey) => ({ ...passkey, name }));
      if (renamed === undefined) throw new SvcError("PASSKEY_UNKNOWN");
      return { status: 200, body: shown(renamed) };
    },
  };
}

function removeCredential({ passkeys, log }: PasskeyDeps): Route {
  return {
    method: "DELETE",
    path: "/api/webauthn/credentials/{id}",
    access: "read",
    doc: {
      summary:
        "Removes a passkey. A page's sign-in may not remove the last one of a user_id that works; the token may.",
      query: query(),
      answers: {
        200: { description: "It is gone.", body: v.object({ id: v.string(), removed: v.literal(true) }) },
      },
      errors: ["PASSKEY_UNKNOWN", "PASSKEY_LAST", "STORE_FULL", "STORE_FAILED"],
    },
    async handle({ caller, params, query }) {
      // A person at an unlocked page must not be able to lock its owner out.
      const isPage = caller.kind === "device" && caller.proof !== "token";
      const which = whichOf(caller, params, query);
      await passkeys.remove(which, (others) => {
        if (isPage && !others.some(isUsable)) throw new SvcError("PASSKEY_LAST");
      });
      log.info("a passkey was removed", { passkey: briefly(which) });
      return { status: 200, body: { id: which.id, removed: true } };
    },
  };
}

const whichOf = (caller: RouteCaller, params: Readonly<Record<string, string>>, query: URLSearchParams) => ({
  owner: ownerOf(caller),
  userId: userIdOf(query),
  id: params["id"] ?? "",
});

const userIdOf = (query: URLSearchParams): string | undefined => query.get("user_id") ?? undefined;

/** Undefined for an operator, who sees everybody's. Throws UNAUTHORIZED for a stranger. */
function ownerOf(caller: RouteCaller) {
  if (caller.kind === "operator") return undefined;
  if (caller.kind === "device") return caller.clientId;
  throw new SvcError("UNAUTHORIZED");
}
