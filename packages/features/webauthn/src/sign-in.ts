/**
 * `POST /api/webauthn/auth/start` and `…/finish`. With `sign_in` both are open, and a good answer signs the page in as the
 * passkey's device; without it a device with its bearer is told that the passkey is one of its own, and nobody is signed in.
 */
import { type FeatureContext, type Json, type Route, type RouteCaller, SvcError } from "@svc/contract";
import * as v from "valibot";
import type { Ceremony, Challenges } from "./challenges.ts";
import { ASSERTION, type Assertion, REQUEST_OPTIONS, USER_ID, requestOptions } from "./ceremony.ts";
import { type Passkey, type Passkeys, type Which, briefly, isUsable } from "./passkeys.ts";
import { parseJson } from "@svc/kit";
import type { RelyingParty } from "./relying-party.ts";

const START = v.object({ user_id: v.optional(USER_ID) });

const VERIFIED = v.object({
  verified: v.literal(true),
  credential_id: v.string(),
  user_id: v.string(),
  csrf: v.optional(v.pipe(v.string(), v.description("With sign_in: as of POST /api/session."))),
  device: v.optional(
    v.pipe(
      v.object({ id: v.string(), name: v.string(), scope: v.string() }),
      v.description("With sign_in: the device that the page is now."),
    ),
  ),
});

export function authStart({ party, challenges, passkeys, signsIn }: PasskeyDeps): Route {
  return {
    method: "POST",
    path: "/api/webauthn/auth/start",
    access: signsIn ? "open" : "read",
    doc: {
      summary: "Starts using a passkey: returns the options for the browser. With sign_in it needs no bearer.",
      body: START,
      answers: { 200: { description: "Options for the browser.", body: REQUEST_OPTIONS } },
      errors: ["PASSKEY_REFUSED", "PASSKEY_UNKNOWN", "RATE_LIMITED"],
    },
    async handle({ caller, body, origin: asked }) {
      const { user_id: userId } = body as v.InferOutput<typeof START>;
      const client = clientOf(caller);
      const rp = party();
      const origin = rp.originFor(asked);
      // A stranger is told nothing of who there is: no list, and no error either.
      const known = userId === undefined || client === undefined ? [] : await passkeys.list({ owner: client, userId });
      const isOwn = userId !== undefined && client !== undefined;
      if (isOwn && known.length === 0) throw new SvcError("PASSKEY_UNKNOWN");
      const ceremony: Ceremony = { purpose: "auth", client, origin, ...(userId !== undefined && { userId }) };
      const options = requestOptions(rp, challenges.issue(ceremony), isOwn ? known.filter(isUsable) : undefined);
      return { status: 200, body: options as unknown as Json };
    },
  };
}

export function authFinish(deps: PasskeyDeps): Route {
  const { party, challenges, passkeys, signsIn } = deps;
  return {
    method: "POST",
    path: "/api/webauthn/auth/finish",
    access: signsIn ? "open" : "read",
    doc: {
      summary:
        "Verifies the passkey that the browser used; the body is its AuthenticationResponseJSON. With sign_in it needs no bearer and signs the page in, as POST /api/session does.",
      body: ASSERTION,
      answers: { 200: { description: "It is good.", body: VERIFIED } },
      errors: ["PASSKEY_REFUSED", "PASSKEY_EXPIRED", "PASSKEY_UNKNOWN", "RATE_LIMITED", "STORE_FULL", "STORE_FAILED"],
    },
    async handle({ caller, body, origin: asked }) {
      const answer = body as unknown as Assertion;
      const client = clientOf(caller);
      // A program with a bearer has no page to sign in, and asks as without sign_in: is this one of ours?
      const signsPageIn = signsIn && (asked !== undefined || client === undefined);
      const data = clientDataOf(answer.response.clientDataJSON);
      const { challenge } = data;
      const { origin, userId, begunAtMs } = await challenges.redeem(challenge, "auth", client);
      checkClientData(data, { type: "webauthn.get", origin });
      const which = { id: answer.id, userId, owner: signsPageIn ? undefined : client };
      const [passkey] = await passkeys.list(which);
      if (passkey === undefined) throw new SvcError("PASSKEY_UNKNOWN");
      checkHandle(answer, passkey, userId !== undefined);
      const { verifiedAssertion } = await import("./verify.ts");
      const signed = await verifiedAssertion(answer, passkey, { challenge, origin, rpId: party().id });
      await note(deps, which, { ...signed, begunAtMs });
      const { id, owner } = passkey;
      deps.log.info("a passkey was used", { passkey: briefly(passkey), signs_in: signsPageIn });
      return {
        status: 200,
        body: { verified: true, credential_id: id, user_id: passkey.userId },
        ...(signsPageIn && { signIn: owner }),
      };
    },
  };
}

/** Throws UNAUTHORIZED: an operator has no passkeys of its own. */
function clientOf(caller: RouteCaller) {
  if (caller.kind === "operator") throw new SvcError("UNAUTHORIZED", "A passkey belongs to a paired device.");
  return caller.kind === "device" ? caller.clientId : undefined;
}

/** Authenticators may leave the handle out only when they were asked for one of a list. Throws PASSKEY_REFUSED. */
function checkHandle({ response: { userHandle } }: Assertion, { handle }: Passkey, mayBeMissing: boolean): void {
  const isMissing = userHandle === undefined || userHandle === null;
  if (isMissing ? mayBeMissing : userHandle === handle) return;
  throw new SvcError("PASSKEY_REFUSED", "This passkey was made for another user.");
}

/**
 * Keeps what the use told of it. Throws PASSKEY_REFUSED for one that may be a copy, PASSKEY_EXPIRED for one that was overtaken by
 * another use, PASSKEY_UNKNOWN for one that was removed meanwhile.
 */
async function note({ passkeys, clock, log }: PasskeyDeps, which: Which, use: Use): Promise<void> {
  let verdict: Verdict | undefined;
  const passkey = await passkeys.change(which, (known) => {
    if (!isUsable(known)) return known;
    verdict = verdictOn(known, use);
    if (verdict === "overtaken") return known;
    const nowMs = clock.now();
    if (verdict === "copied") return { ...known, suspectSinceMs: nowMs };
    return { ...known, counter: use.counter, isSynced: use.isSynced, lastUsedAtMs: nowMs };
  });
  if (passkey === undefined) throw new SvcError("PASSKEY_UNKNOWN");
  if (verdict === "overtaken") throw new SvcError("PASSKEY_EXPIRED");
  if (verdict === "copied") {
    log.warn("a passkey's counter went back: it may have been copied, and is refused from now on", {
      passkey: briefly(passkey),
    });
  }
  if (isUsable(passkey)) return;
  throw new SvcError(
    "PASSKEY_REFUSED",
    "This passkey may have been copied: its counter went back. Remove it, and add another one.",
  );
}

/** The signature counter, by which a copy of an authenticator shows (https://www.w3.org/TR/webauthn-3/#sctn-sign-counter). */
interface Use {
  /** What the authenticator signed; 0: it does not count. */
  readonly counter: number;
  readonly isSynced: boolean;
  /** When its challenge was issued, by the wall clock. */
  readonly begunAtMs: number;
}

/** `overtaken`: a later use came in first, as happens on slow lines; it is refused all the same. */
type Verdict = "in-order" | "overtaken" | "copied";

function verdictOn({ counter: known, lastUsedAtMs }: Passkey, { counter, begunAtMs }: Use): Verdict {
  const counts = counter !== 0 || known !== 0;
  if (!counts || counter > known) return "in-order";
  return lastUsedAtMs !== null && begunAtMs <= lastUsedAtMs ? "overtaken" : "copied";
}

/** What the browser says of a ceremony, and the authenticator signs: https://www.w3.org/TR/webauthn-3/#dictdef-collectedclientdata */
const CLIENT_DATA = v.object({
  type: v.string(),
  challenge: v.string(),
  origin: v.string(),
  crossOrigin: v.optional(v.boolean(), false),
  topOrigin: v.optional(v.string()),
});

type ClientData = v.InferOutput<typeof CLIENT_DATA>;

/** Throws BAD_REQUEST. */
export function clientDataOf(encoded: string): ClientData {
  const parsed = v.safeParse(CLIENT_DATA, parseJson(Buffer.from(encoded, "base64url")));
  if (parsed.success) return parsed.output;
  throw new SvcError("BAD_REQUEST", "The clientDataJSON is none.");
}

/**
 * What the library leaves open, or says in words that quote what came: a ceremony of the other kind, another page, a page
 * in a frame of another site. Throws PASSKEY_REFUSED.
 */
export function checkClientData(
  { type, origin, crossOrigin, topOrigin }: ClientData,
  expected: { readonly type: "webauthn.create" | "webauthn.get"; readonly origin: string },
): void {
  if (type !== expected.type) throw refused("This is the answer of another ceremony.");
  if (origin !== expected.origin) throw refused("The passkey was used on another address than the page's.");
  if (crossOrigin || topOrigin !== undefined) throw refused("The page was inside of another site's.");
}

const refused = (message: string): SvcError => new SvcError("PASSKEY_REFUSED", message);

/** What the endpoints share: made once for each instance of the feature. */
export interface PasskeyDeps extends Pick<FeatureContext, "clock" | "log"> {
  /** Throws CONFIG_INVALID; registration has found that out before. */
  readonly party: () => RelyingParty;
  readonly challenges: Challenges;
  readonly passkeys: Passkeys;
  /** A passkey signs in without a bearer. */
  readonly signsIn: boolean;
}
