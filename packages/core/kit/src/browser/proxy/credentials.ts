/** Who may use the proxy: the one browser that was told its password, and no other program of this machine. */
import { randomBytes } from "node:crypto";
import { equalSecrets } from "../../equal-secrets.ts";

export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Whether a `Proxy-Authorization` header is theirs (RFC 7617). */
  fit(header: string | undefined): boolean;
}

export function freshCredentials(): Credentials {
  const username = "svc";
  const password = randomBytes(24).toString("hex");
  const expected = Buffer.from(`${username}:${password}`).toString("base64");
  return {
    username,
    password,
    fit(header = "") {
      const [, given] = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(header) ?? [];
      return given !== undefined && equalSecrets(given, expected);
    },
  };
}

/** For a browser that can't give any. */
export const NO_CREDENTIALS: Credentials = { username: "", password: "", fit: () => true };
