/** JSON of somebody else's, read without trust: what is not there, or of another kind, is as if it were missing. */
import type { Json } from "@svc/contract";

export type Fields = Readonly<Record<string, Json>>;

export const fieldsOf = (json: Json | undefined): Fields =>
  typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Fields) : {};

export const listOf = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? json : []);
