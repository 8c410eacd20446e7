/** Push messages of the page that asks: on, off, tried. */
import { type Json, SvcError } from "@svc/contract";
import * as v from "valibot";
import { jsonReply, Reply } from "../http/reply.ts";
import { type PushState, type WebPush } from "../push/web-push.ts";
import { SUBSCRIPTION, wantedOf } from "../push/push-sender.ts";
import { name, time } from "./fields.ts";
import { type ApiRequest, type ApiRoute, type ApiSpec, type BodyLimits, jsonBody } from "./route.ts";

const STATE = v.object({
  public_key: name("For `pushManager.subscribe`: the service's own key, base64url."),
  subscription: v.nullable(
    v.object({
      created_at: time(),
      details: v.pipe(v.boolean(), v.description("Notifications include the request itself.")),
      last_sent_at: v.nullable(time("UTC; null: nothing was sent since the service started.")),
      last_error: v.nullable(v.object({ at: time(), message: v.string() })),
    }),
  ),
});
const ANSWER = { 200: { description: "The subscription of the page that asks, as it is now.", body: STATE } };
const STORED = ["STORE_FULL", "STORE_FAILED", "SECRET_UNREADABLE"] as const;
const DETAILS = "Only for a page that is signed in: a token gets 403.";

const READ: ApiSpec = {
  method: "GET",
  path: "/api/push",
  access: "operate",
  summary: "Tells whether this page's browser gets push messages.",
  details: DETAILS,
  answers: ANSWER,
  errors: STORED,
};

const SUBSCRIBE: ApiSpec = {
  method: "PUT",
  path: "/api/push",
  access: "operate",
  summary: "Sends push messages to this page's browser from now on: that an approval is waiting.",
  details: `${DETAILS} The subscription ends with the sign-in. Its endpoint is kept encrypted.`,
  body: SUBSCRIPTION,
  answers: ANSWER,
  errors: ["ADDRESS_REFUSED", "REMOTE_UNREACHABLE", "PUSH_LIMIT", ...STORED],
};

const UNSUBSCRIBE: ApiSpec = {
  method: "DELETE",
  path: "/api/push",
  access: "operate",
  summary: "Sends no more push messages to this page's browser.",
  details: DETAILS,
  answers: ANSWER,
  errors: STORED,
};

const TEST: ApiSpec = {
  method: "POST",
  path: "/api/push/test",
  access: "operate",
  summary: "Sends one push message to this page's browser, and tells whether the push service took it.",
  details: DETAILS,
  answers: ANSWER,
  errors: ["PUSH_UNSUBSCRIBED", "PUSH_FAILED", ...STORED],
};

export const PUSH_SPECS = [READ, SUBSCRIBE, UNSUBSCRIBE, TEST];

export interface PushRouteDeps {
  readonly push: Pick<WebPush, "state" | "subscribe" | "unsubscribe" | "test">;
  readonly bodies: BodyLimits;
}

export function pushRoutes({ push, bodies }: PushRouteDeps): ApiRoute[] {
  const shown = async (id: string): Promise<Reply> => jsonReply(200, stateJson(await push.state(id)));
  return [
    { ...READ, handle: (request) => shown(signInOf(request)) },
    {
      ...SUBSCRIBE,
      async handle(request) {
        const id = signInOf(request);
        const body = await jsonBody(request, SUBSCRIPTION, bodies);
        if (body instanceof Reply) return body;
        await push.subscribe(id, wantedOf(body as v.InferOutput<typeof SUBSCRIPTION>));
        return shown(id);
      },
    },
    {
      ...UNSUBSCRIBE,
      async handle(request) {
        const id = signInOf(request);
        await push.unsubscribe(id);
        return shown(id);
      },
    },
    {
      ...TEST,
      async handle(request) {
        const id = signInOf(request);
        await push.test(id);
        return shown(id);
      },
    },
  ];
}

function signInOf({ principal: { signIn } }: ApiRequest): string {
  if (signIn) return signIn.id;
  throw new SvcError("FORBIDDEN_SCOPE", "Push messages are for a page that is signed in, not for a token.");
}

function stateJson({ publicKey, subscription }: PushState): Json {
  const at = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
  if (subscription === undefined) return { public_key: publicKey, subscription: null };
  const { createdAtMs, details, lastSentAtMs, lastError } = subscription;
  return {
    public_key: publicKey,
    subscription: {
      created_at: at(createdAtMs),
      details,
      last_sent_at: at(lastSentAtMs),
      last_error: lastError ? { at: at(lastError.atMs), message: lastError.message } : null,
    },
  };
}
