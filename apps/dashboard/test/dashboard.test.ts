// The page as people have it: the built binary, a real browser. What no unit test sees is whether a click reaches the service,
// whether a second page hears of it, and whether anything is stale, doubled or lost when the service is killed in between.
import { afterAll, beforeAll, beforeEach } from "vitest";
import { abuseCases } from "./cases/abuse.ts";
import { approvalCases } from "./cases/approvals.ts";
import { chatCases } from "./cases/chat.ts";
import { commandCases } from "./cases/commands.ts";
import { cutOffCases } from "./cases/cut-off.ts";
import { homeCases } from "./cases/home.ts";
import { hostileCases } from "./cases/hostile.ts";
import { modelErrorCases } from "./cases/model-errors.ts";
import { otherSiteCases } from "./cases/other-sites.ts";
import { reachCases } from "./cases/reach.ts";
import { restartCases } from "./cases/restart.ts";
import { signInCases } from "./cases/sign-in.ts";
import { workCases } from "./cases/work.ts";
import { hasChromium, launch, needChromium } from "./house/browser.ts";
import { openHouse } from "./house/house.ts";
import { seedProcedures } from "./house/procedures.ts";
import type { Scene } from "./house/scene.ts";

let scene: Scene | undefined;
const here = (): Scene => {
  if (scene === undefined) throw new Error("The scene is not set.");
  return scene;
};

// One Chromium is a gigabyte, and one daemon is enough: the cases share both, and each brings people of its own.
beforeAll(async () => {
  if (!hasChromium()) return;
  const [browser, house] = await Promise.all([launch(), openHouse(seedProcedures)]);
  scene = { browser, house };
});

beforeEach(needChromium);

afterAll(async () => {
  await scene?.browser.close();
  await scene?.house[Symbol.asyncDispose]();
});

signInCases(here);
chatCases(here);
commandCases(here);
cutOffCases(here);
homeCases(here);
modelErrorCases(here);
approvalCases(here);
workCases(here);
hostileCases(here);
otherSiteCases(here);
abuseCases(here);
reachCases(here);
restartCases(here);
