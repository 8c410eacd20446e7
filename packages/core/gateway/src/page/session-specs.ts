/** The routes of the page's sign-in as data. */
import * as v from "valibot";
import { PAIR_BODY, PAIRING_CODE } from "../pairing/route.ts";
import type { RouteSpec } from "../routes/spec.ts";

const PATH = "/api/session";

const DEVICE = v.object({ id: v.string(), name: v.string(), scope: v.picklist(["operator", "read"]) });

const COOKIE = { "Set-Cookie": v.pipe(v.string(), v.description("svc_session, for the browser alone.")) };

export const SIGN_IN: RouteSpec = {
  method: "POST",
  path: PATH,
  access: "public",
  summary: "Signs a page in.",
  details:
    "Takes a bearer token, or a pairing code, which makes the browser a device of its own. The cookie opens nothing " +
    "without X-Svc-Csrf beside it. A sign-in ends after gateway.page_session_days without a request. With neither token " +
    "nor code but the cookie of a sign-in, it answers as GET does: a page that came by plain http sends no Origin with GET.",
  headers: {
    Origin: v.pipe(v.string(), v.description("That of the page, which is our own.")),
    Authorization: v.optional(v.pipe(v.string(), v.description("A token of scope operator or read."))),
    "X-Pairing-Code": v.optional(PAIRING_CODE),
  },
  body: PAIR_BODY,
  bodyOptional: true,
  answers: {
    200: {
      description: "The page is signed in.",
      body: v.object({
        csrf: v.pipe(v.string(), v.description("To be sent as X-Svc-Csrf with each request.")),
        device: DEVICE,
      }),
      headers: COOKIE,
    },
  },
  errors: [
    "UNAUTHORIZED",
    "FORBIDDEN_SCOPE",
    "RATE_LIMITED",
    "LOCKED_OUT",
    "BAD_PAIRING_CODE",
    "STORE_FULL",
    "STORE_FAILED",
  ],
};

export const SIGNED_IN: RouteSpec = {
  method: "GET",
  path: PATH,
  access: "read",
  summary: "Tells whose sign-in, or token, it is.",
  details:
    "With the cookie alone, and an own Origin or Sec-Fetch-Site: same-origin, it also returns csrf and sets the cookie " +
    "anew: a reload, or a restart of the browser, stays signed in. Nothing else is answered to the cookie alone.",
  answers: {
    200: { description: "The device.", body: v.object({ csrf: v.optional(v.string()), device: DEVICE }) },
  },
};

export const SIGN_OUT: RouteSpec = {
  method: "DELETE",
  path: PATH,
  access: "read",
  summary: "Signs the page out: its streams and its requests end at once.",
  details: "Who came by a token has nothing to sign out of; the cookie is cleared all the same.",
  answers: { 204: { description: "It is signed out.", headers: COOKIE } },
  errors: ["STORE_FULL", "STORE_FAILED"],
};

export const WAYS: RouteSpec = {
  method: "GET",
  path: "/api/session/ways",
  access: "public",
  summary: "Tells by what a page can be signed in, beside a token and a pairing code.",
  answers: {
    200: {
      description: "Ids of features, in service now.",
      body: v.object({ features: v.array(v.string()) }),
    },
  },
};

export const PAGE_SESSION_SPECS: readonly RouteSpec[] = [SIGN_IN, SIGNED_IN, SIGN_OUT, WAYS];
