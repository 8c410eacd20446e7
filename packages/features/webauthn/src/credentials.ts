/** `/api/webauthn/credentials`: passkeys listed, renamed, removed, by the device that they belong to or by an operator. */
import { type Route, type RouteCaller, SvcError } from "@svc/contract";
import * as v from "valibot";
import { PASSKEY_NAME, USER_ID } from "./fields.ts";
import type { House } from "./house.ts";
import { briefly, isUsable, PASSKEY, shown } from "./passkey.ts";

const query = () => ({ user_id: v.optional(USER_ID) });

const LIST = v.object({
  credentials: v.array(
    v.object({
      ...PASSKEY.entries,
      client_id: v.optional(v.pipe(v.string(), v.description("For an operator alone: whose it is."))),
    }),
  ),
});

export function listCredentials({ passkeys }: House): Route {
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

export function renameCredential({ passkeys }: House): Route {
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

export function removeCredential({ passkeys, log }: House): Route {
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
      // Whoever finds a page open must not be able to shut its owner out.
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
