/** `@svc/kit/mail`: what channels of mail share, however they get at a mailbox. */
export * from "./authenticity.ts";
export * from "./compose.ts";
export * from "./headers.ts";
export * from "./html-text.ts";
export * from "./quoted.ts";
