/** A sign-in of the page on disk. The cookie that proves it is not stored. */
export interface PageSession {
  /** Names the sign-in in lists; opens nothing. */
  readonly id: string;
  /** Hex SHA-256 of the cookie's value. */
  readonly idHash: string;
  readonly deviceId: string;
  /** Browser and system in words, such as `Firefox on Linux`. */
  readonly browser: string;
  /** The page came by https: its cookie is `Secure`, whenever it is set again. */
  readonly isSecure: boolean;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
}
