/** A sign-in of the page on disk. Neither of the two values that prove it is stored. */
export interface PageSession {
  /** Hex SHA-256 of the cookie's value. */
  readonly idHash: string;
  /** Hex SHA-256 of what comes in `X-Svc-Csrf`. */
  readonly csrfHash: string;
  readonly deviceId: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
}
