/** A CommonJS library has named exports only for a static import, so this module exists to load it lazily. */
export { WebClient } from "@slack/web-api";
