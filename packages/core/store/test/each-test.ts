/** The fixture of the test that runs, and the store that is open in it. */
import { afterEach, beforeEach } from "vitest";
import type { Store } from "../src/index.ts";
import { fixture, type Fixture } from "./fixture.ts";

export let home: Fixture;
export let store: Store;

/** Called by the file whose tests want one each. */
export function storeForEachTest(): void {
  beforeEach(() => {
    home = fixture();
    store = home.open();
  });
  afterEach(() => {
    store.close();
    home[Symbol.dispose]();
  });
}

/** After the store was closed. */
export const open = (): void => void (store = home.open());

export function reopen(): void {
  store.close();
  open();
}

/** What a killed process would leave behind is opened. */
export const crash = (): void => void (store = home.crash(store));
