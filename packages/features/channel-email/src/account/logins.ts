/** What the channel signs in with, at both servers: a password, or a token that is renewed by itself. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { createAccessTokens } from "@svc/kit";
import type { Config } from "../config.ts";

export type Login =
  | { readonly user: string; readonly password: string; readonly token?: undefined }
  | { readonly user: string; readonly token: string; readonly password?: undefined };

export interface Logins {
  /**
   * What `work` comes to with a login; when it is refused (CHANNEL_UNAUTHORIZED) and there is a newer token, once more with
   * that.
   */
  use<T>(work: (login: Login) => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createLogins({
  config,
  fetch,
  clock,
}: Pick<FeatureContext<Config>, "config" | "fetch" | "clock">): Logins {
  const { address, username: user = address, password = "" } = config;
  const tokens = createAccessTokens({
    accessToken: config.access_token,
    refreshToken: config.refresh_token,
    clientId: config.client_id,
    clientSecret: config.client_secret,
    tokenUrl: config.token_url ?? "",
    withoutToken: "Set password in [channels_config.email], or a token.",
    fetch,
    clock,
  });
  if (!tokens.areThere) return { use: (work) => work({ user, password }) };
  const current = (signal: AbortSignal): Promise<string> => tokens.current(signal).catch(asUnreachable);
  return {
    async use(work, signal) {
      const token = await current(signal);
      try {
        return await work({ user, token });
      } catch (error) {
        const isRefused = error instanceof SvcError && error.code === "CHANNEL_UNAUTHORIZED";
        if (!isRefused || !(await tokens.renew(token, signal).catch(asUnreachable))) throw error;
        return work({ user, token: await current(signal) });
      }
    },
  };
}

/** No message was refused here. */
function asUnreachable(error: unknown): never {
  if (!(error instanceof SvcError) || !error.code.startsWith("DELIVERY_")) throw error;
  const { message, retryAfterMs } = error;
  throw new SvcError("REMOTE_UNREACHABLE", message, {
    hint: "Check token_url of [channels_config.email].",
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
