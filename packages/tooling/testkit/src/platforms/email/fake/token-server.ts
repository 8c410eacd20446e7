/** An OAuth server: gives access tokens for a refresh token (RFC 6749, 6), and tells a mail server whose they are (RFC 7662). */
import { type FakePlatform, type PlatformReply, startPlatform } from "../../base.ts";

export interface TokenServerOptions {
  readonly refreshToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Whose mailbox its tokens open. */
  readonly user: string;
}

export interface TokenServer extends FakePlatform {
  /** Access tokens that are valid now, the newest last. */
  readonly tokens: Set<string>;
  /** Those that it gave are not valid any more. */
  expire(): void;
}

export async function startTokenServer(options: TokenServerOptions): Promise<TokenServer> {
  const tokens = new Set<string>();
  let count = 0;
  const answer = ({ path, body }: { readonly path: string; readonly body: Uint8Array }): PlatformReply => {
    const form = new URLSearchParams(Buffer.from(body).toString("utf8"));
    if (path === "/introspect") {
      const isActive = tokens.has(form.get("token") ?? "");
      return { json: isActive ? { active: true, username: options.user } : { active: false } };
    }
    const isRight =
      form.get("grant_type") === "refresh_token" &&
      form.get("refresh_token") === options.refreshToken &&
      form.get("client_id") === options.clientId &&
      form.get("client_secret") === options.clientSecret;
    if (path !== "/token" || !isRight) return { status: 400, json: { error: "invalid_grant" } };
    count += 1;
    const token = `access-token-${count}`;
    tokens.add(token);
    return { json: { access_token: token, token_type: "Bearer", expires_in: 3600 } };
  };
  const platform = await startPlatform(answer);
  return Object.assign(platform, { tokens, expire: () => tokens.clear() });
}
