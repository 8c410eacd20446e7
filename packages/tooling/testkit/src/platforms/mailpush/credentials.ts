/** Access tokens, and the refresh token that makes new ones. */
import type { PlatformReply, PlatformRequest } from "../base.ts";

export interface Credentials {
  /** Whether a request may be answered. */
  mayAsk(request: PlatformRequest): boolean;
  /** `POST /token`. */
  exchange(request: PlatformRequest): PlatformReply;
  /** All that were given out are refused from now on. */
  expire(): void;
  /** Nobody gets new ones any more. */
  revoke(): void;
}

export interface CredentialOptions {
  /** Good from the beginning. */
  readonly token: string;
  readonly refreshToken?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly expiresInSecs?: number;
}

export function createCredentials(options: CredentialOptions): Credentials {
  const good = new Set([options.token]);
  let isRevoked = false;
  let count = 0;
  return {
    mayAsk: ({ headers }) => good.has(/^Bearer (.+)$/.exec(headers["authorization"] ?? "")?.[1] ?? ""),
    exchange({ headers, body, method }) {
      const form = new URLSearchParams(Buffer.from(body).toString("utf8"));
      const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
      if (method !== "POST" || !isForm || form.get("grant_type") !== "refresh_token")
        return denied(400, "invalid_request");
      const isClient = form.get("client_id") === options.clientId && form.get("client_secret") === options.clientSecret;
      if (!isClient) return denied(401, "invalid_client");
      if (isRevoked || form.get("refresh_token") !== options.refreshToken) return denied(400, "invalid_grant");
      count += 1;
      const token = `access-token-${count}`;
      good.add(token);
      const expires_in = options.expiresInSecs ?? 3599;
      return { json: { access_token: token, expires_in, scope: "https://mail.example/modify", token_type: "Bearer" } };
    },
    expire: () => good.clear(),
    revoke() {
      isRevoked = true;
      good.clear();
    },
  };
}

const denied = (status: number, error: string): PlatformReply => ({
  status,
  json: { error, error_description: "Token has been expired or revoked." },
});
