/** `@svc/kit`: what feature authors share. */
export * from "./access-tokens.ts";
export * from "./answer-parts.ts";
export * from "./async/index.ts";
export * from "./channel-check.ts";
export * from "./conversation-key.ts";
export * from "./json.ts";
export { replaceQuoted } from "./mail/headers.ts";
export * from "./media.ts";
export * from "./outgoing/guarded-fetch.ts";
export { createGuardedResolve, isPublicAddress } from "./outgoing/target.ts";
export * from "./platform-call.ts";
export { isCanonicalPath } from "./request-path.ts";
export * from "./sender-gate.ts";
export * from "./signatures.ts";
