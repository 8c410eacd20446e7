import type { Browser } from "playwright-core";
import type { House } from "./house.ts";

export interface BrowserScene {
  readonly browser: Browser;
}

/** What all cases share. */
export interface Scene extends BrowserScene {
  readonly house: House;
}
