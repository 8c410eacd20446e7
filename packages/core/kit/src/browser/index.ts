/** `@svc/kit/browser`: the tool `browser` but for who drives it. A backend writes a `BrowserDriver`. */
export * from "./actions.ts";
export * from "./chromium.ts";
export * from "./domains.ts";
export type * from "./driver.ts";
export * from "./errors.ts";
export * from "./feature.ts";
export { keepFile } from "./files.ts";
export { type BrowserGuard, browserGuard } from "./guard.ts";
export type * from "./settings.ts";
