/** OAuth access tokens of one account: the one of the config, and new ones for the refresh token as they are needed (RFC 6749, 6). */
import { type FeatureContext, SvcError } from "@svc/contract";
import * as v from "valibot";
import { platformCall } from "./platform-call.ts";
import { unlessAborted } from "./async/timeout.ts";

export interface AccessTokens {
  /** Whether the config has any. */
  readonly areThere: boolean;
  /** Throws CHANNEL_UNAUTHORIZED, REMOTE_*, DELIVERY_FAILED. */
  current(signal: AbortSignal): Promise<string>;
  /** After `refused` was: whether there is another one now. */
  renew(refused: string, signal: AbortSignal): Promise<boolean>;
}

/** Blank values count as missing; a grant is used only when it is whole. */
export interface TokenOptions {
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly tokenUrl: string;
  /** What to do when there is no token at all, as a hint. */
  readonly withoutToken: string;
  readonly fetch: FeatureContext["fetch"];
  readonly clock: FeatureContext["clock"];
}

interface Token {
  readonly value: string;
  readonly endsAtMs: number;
}

/** A token that ends on the way is refused. */
const EARLY_MS = 60_000;

export function createAccessTokens(options: TokenOptions): AccessTokens {
  const { fetch, clock, tokenUrl } = options;
  const grant = grantOf(options);
  let token = firstOf(options);
  let exchange: Promise<Token> | undefined;

  /** Once for all who ask meanwhile, and to its end although one of them is called off. */
  const renewed = async (signal: AbortSignal): Promise<Token> => {
    signal.throwIfAborted();
    exchange ??= exchangeGrant().finally(() => (exchange = undefined));
    return unlessAborted(exchange, signal);
  };

  async function exchangeGrant(): Promise<Token> {
    const { status, json } = await platformCall(fetch, {
      url: tokenUrl,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: String(grant),
      answers: [400, 401],
      signal: new AbortController().signal,
      nowMs: clock.now(),
    });
    const answer = v.safeParse(tokenAnswer, json);
    if (status === 400 || status === 401) throw refusedGrant();
    if (!answer.success) throw new SvcError("REMOTE_UNREACHABLE", "What answers at token_url gives no token.");
    const { access_token: value, expires_in: seconds } = answer.output;
    return (token = { value, endsAtMs: clock.now() + seconds * 1000 });
  }

  return {
    areThere: token !== undefined || grant !== undefined,
    async current(signal) {
      if (token !== undefined && (grant === undefined || clock.now() < token.endsAtMs - EARLY_MS)) return token.value;
      if (grant === undefined) throw noToken(options.withoutToken);
      return (await renewed(signal)).value;
    },
    async renew(refused, signal) {
      if (grant === undefined) return false;
      if (token?.value === refused) await renewed(signal);
      return true;
    },
  };
}

const tokenAnswer = v.object({
  access_token: v.pipe(v.string(), v.nonEmpty()),
  expires_in: v.fallback(v.pipe(v.number(), v.minValue(0), v.maxValue(86_400 * 365)), 3600),
});

const firstOf = ({ accessToken: value }: TokenOptions): Token | undefined =>
  value?.trim() ? { value, endsAtMs: Number.POSITIVE_INFINITY } : undefined;

function grantOf({ refreshToken: token, clientId: id, clientSecret }: TokenOptions): URLSearchParams | undefined {
  if (!token?.trim() || !id?.trim() || !clientSecret?.trim()) return undefined;
  const grant = { grant_type: "refresh_token", refresh_token: token, client_id: id, client_secret: clientSecret };
  return new URLSearchParams(grant);
}

const noToken = (hint: string): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "There is no token for the mailbox.", { hint });

const refusedGrant = (): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "The platform refuses the refresh token or its client.", {
    hint: "Give consent anew and set refresh_token: one ends when it is revoked, or after 7 days while the app is in testing.",
  });
