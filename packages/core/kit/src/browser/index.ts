/** `@svc/kit/browser`: the tool `browser` without a driver. A backend implements `BrowserDriver`. */
export * from "./actions.ts";
export * from "./chromium.ts";
export * from "./driver.ts";
export { browserFeature, browserSettings, type BrowserSettings } from "./feature.ts";
export { keepFile } from "./files.ts";
export * from "./guard.ts";
