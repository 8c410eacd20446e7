/** `@svc/kit/browser`: the tool `browser` without a driver. A backend implements `BrowserDriver`. */
export * from "./actions.ts";
export * from "./chromium.ts";
export * from "./guard.ts";
export type * from "./driver.ts";
export * from "./errors.ts";
export * from "./feature.ts";
export { keepFile } from "./files.ts";
export { type BrowserGuard, browserGuard } from "./guard.ts";
export type * from "./settings.ts";
