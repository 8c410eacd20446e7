/** `@svc/kit`: what feature authors share. */
export * from "./allowlist.ts";
export * from "./channel-check.ts";
export * from "./conversation-key.ts";
export * from "./equal-secrets.ts";
export * from "./hub-challenge.ts";
export * from "./json.ts";
export * from "./media-download.ts";
export * from "./multipart.ts";
export { createGuardedResolve } from "./outgoing/addresses.ts";
export * from "./outgoing/guarded-fetch.ts";
export * from "./path-part.ts";
export * from "./platform-call.ts";
export * from "./retry-after.ts";
export * from "./sender-gate.ts";
export * from "./sent-parts.ts";
export * from "./signature.ts";
export * from "./split-text.ts";
export * from "./standard-webhooks.ts";
