/** `@svc/kit`: what feature authors share. */
export * from "./allowlist.ts";
export * from "./outgoing/guarded-fetch.ts";
export * from "./json.ts";
