import type { Browser } from "playwright-core";
import type { House } from "./house.ts";

/** What all cases share. */
export interface Scene {
  readonly browser: Browser;
  readonly house: House;
}
