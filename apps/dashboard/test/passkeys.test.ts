// Passkeys as people have them: the built binary, a real browser, its own virtual authenticator. Each test has a daemon of its own, since
// requests without a sign-in are limited to thirty a minute.
import { afterAll, beforeAll, beforeEach } from "vitest";
import { passkeyAbsenceCases } from "./cases/passkey-absence.ts";
import { passkeyAttackCases } from "./cases/passkey-attacks.ts";
import { passkeyManagementCases } from "./cases/passkey-management.ts";
import { passkeyLibraryCases } from "./cases/passkey-library.ts";
import { passkeySignInCases } from "./cases/passkey-sign-in.ts";
import { hasChromium, launch, needChromium } from "./fixture/browser.ts";
import type { BrowserScene } from "./fixture/scene.ts";

let scene: BrowserScene | undefined;
const here = (): BrowserScene => {
  if (scene === undefined) throw new Error("The scene is not set.");
  return scene;
};

beforeAll(async () => {
  if (hasChromium()) scene = { browser: await launch() };
});

beforeEach(needChromium);

afterAll(() => scene?.browser.close());

passkeySignInCases(here);
passkeyManagementCases(here);
passkeyAttackCases(here);
passkeyLibraryCases(here);
passkeyAbsenceCases(here);
