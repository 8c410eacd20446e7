/** Push messages of the page that asks: on, off, tried. */
import { PushState, PushSubscription } from "@svc/api";
import { SvcError } from "@svc/contract";
import { Reply } from "../http/reply.ts";
import { type PagePush, type WebPush, wantedOf } from "../web-push.ts";
import { type ApiRequest, apiRoute, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody, respond } from "./route.ts";

const ANSWER = { 200: { description: "The subscription of the page that asks, as it is now.", body: PushState } };
const STORED = ["STORE_FULL", "STORE_FAILED", "SECRET_UNREADABLE"] as const;
const DETAILS = "Only for a page that is signed in: a token gets 403.";

const READ = {
  method: "GET",
  path: "/api/push",
  access: "operate",
  summary: "Tells whether this page's browser gets push messages.",
  details: DETAILS,
  answers: ANSWER,
  errors: STORED,
} satisfies ApiSpec;

const SUBSCRIBE = {
  method: "PUT",
  path: "/api/push",
  access: "operate",
  summary: "Sends push messages to this page's browser from now on: that an approval is waiting.",
  details: `${DETAILS} The subscription ends with the sign-in. Its endpoint is kept encrypted.`,
  body: PushSubscription,
  answers: ANSWER,
  errors: ["ADDRESS_REFUSED", "REMOTE_UNREACHABLE", "PUSH_LIMIT", ...STORED],
} satisfies ApiSpec;

const UNSUBSCRIBE = {
  method: "DELETE",
  path: "/api/push",
  access: "operate",
  summary: "Sends no more push messages to this page's browser.",
  details: DETAILS,
  answers: ANSWER,
  errors: STORED,
} satisfies ApiSpec;

const TEST = {
  method: "POST",
  path: "/api/push/test",
  access: "operate",
  summary: "Sends one push message to this page's browser, and tells whether the push service took it.",
  details: DETAILS,
  answers: ANSWER,
  errors: ["PUSH_UNSUBSCRIBED", "PUSH_FAILED", ...STORED],
} satisfies ApiSpec;

export const PUSH_SPECS = [READ, SUBSCRIBE, UNSUBSCRIBE, TEST];

export interface PushRouteDeps {
  readonly push: Pick<WebPush, "state" | "subscribe" | "unsubscribe" | "test">;
  readonly bodies: BodyLimits;
}

export function pushRoutes({ push, bodies }: PushRouteDeps): ApiRoute[] {
  const shown = async (id: string): Promise<Reply> => respond(READ, 200, stateJson(await push.state(id)));
  return [
    apiRoute(READ, (request) => shown(signInOf(request))),
    apiRoute(SUBSCRIBE, async (request) => {
      const id = signInOf(request);
      const body = await jsonBody(request, PushSubscription, bodies);
      if (body instanceof Reply) return body;
      await push.subscribe(id, wantedOf(body));
      return shown(id);
    }),
    apiRoute(UNSUBSCRIBE, async (request) => {
      const id = signInOf(request);
      await push.unsubscribe(id);
      return shown(id);
    }),
    apiRoute(TEST, async (request) => {
      const id = signInOf(request);
      await push.test(id);
      return shown(id);
    }),
  ];
}

function signInOf({ principal: { signIn } }: ApiRequest): string {
  if (signIn) return signIn.id;
  throw new SvcError("FORBIDDEN_SCOPE", "Push messages are for a page that is signed in, not for a token.");
}

function stateJson({ publicKey, subscription }: PagePush): PushState {
  if (subscription === undefined) return { public_key: publicKey, subscription: null };
  const { createdAtMs, details, lastSentAtMs, lastError } = subscription;
  return {
    public_key: publicKey,
    subscription: {
      created_at: instant(createdAtMs),
      details,
      last_sent_at: lastSentAtMs === undefined ? null : instant(lastSentAtMs),
      last_error: lastError ? { at: instant(lastError.atMs), message: lastError.message } : null,
    },
  };
}

const instant = (ms: number): string => new Date(ms).toISOString();
