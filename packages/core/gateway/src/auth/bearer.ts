/** Bearer tokens: `svc_` and 64 hex digits. Only their SHA-256 is ever kept, and looked up. */
import { hash, randomBytes } from "node:crypto";

/** 256 random bits; nothing about it can be guessed, so its hash needs no salt and no stretching. */
export const mintToken = (): string => `svc_${randomBytes(32).toString("hex")}`;

/** Hex SHA-256. */
export const tokenHash = (token: string): string => hash("sha256", token, "hex");

/** The token in an `Authorization` header; undefined unless it is a well-formed one of ours. */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +(svc_[0-9a-f]{64}) *$/i.exec(authorization)?.[1];
}
