/** A CommonJS library has its names only for a static import: what is to be loaded late is loaded by this module. */
export { WebClient } from "@slack/web-api";
