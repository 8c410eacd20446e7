import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Browser } from "playwright-core";
import { hasChromium, launch, needChromium } from "./browser.ts";
import { type House, openHouse } from "./house.ts";
import { seedProcedures } from "./procedures.ts";

export interface BrowserScene {
  readonly browser: Browser;
}

/** What all cases of a file share. */
export interface Scene extends BrowserScene {
  readonly house: House;
}

/** One Chromium is a gigabyte, and one daemon is enough: the cases of a file share both, and each brings people of its own. */
export function sharedScene(seed: (home: string) => void = seedProcedures): () => Scene {
  let scene: Scene | undefined;
  beforeAll(async () => {
    if (!hasChromium()) return;
    const [browser, house] = await Promise.all([launch(), openHouse(seed)]);
    scene = { browser, house };
  });
  beforeEach(needChromium);
  afterAll(async () => {
    await scene?.browser.close();
    await scene?.house[Symbol.asyncDispose]();
  });
  return () => {
    if (scene === undefined) throw new Error("The scene is not set.");
    return scene;
  };
}
