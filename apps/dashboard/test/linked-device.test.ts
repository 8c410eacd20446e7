// Linking an account in a real browser: a phone reads the code off the screen, is logged out by the platform, and links again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { codeInPicture, type Picture } from "@svc/testkit/platforms/provider-a-web/camera";
import { PERSON, startWebPlatform } from "@svc/testkit/platforms/provider-a-web/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import type { Browser, Locator } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { launch, needChromium } from "./fixture/browser.ts";
import { signedIn } from "./fixture/person.ts";

beforeEach(needChromium);

test("links an account by the code on the page, and again after the platform logged it out", async () => {
  using home = temporaryHome();
  await using platform = await startWebPlatform();
  const config = `
[channels_config.provider_a]
session_path = "linked"
allowed_numbers = ["${PERSON}"]
api_url = "${platform.url}"
web_root_key = "${platform.rootKey}"
`;
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  await using daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
  const token = await daemon.pair();
  const browser = await launch();
  try {
    const phone = { viewport: { width: 390, height: 844 } };
    await using person = await signedIn(browser, { url: daemon.url, token, pairingCode: () => daemon.pair() }, phone);
    const { page } = person;
    const dialog = page.getByRole("dialog", { name: "Link an account" });
    const linkByPage = async (): Promise<void> => {
      await page.getByRole("button", { name: "Link the account" }).click();
      await dialog.getByRole("button", { name: "Show a code" }).click();
      const code = dialog.getByRole("img", { name: "QR code that links the account" });
      await code.waitFor();
      platform.scan(codeInPicture(await pictureOf(browser, code)));
      await dialog.getByText("Linked: ").waitFor();
      await dialog.getByRole("button", { name: "Done" }).click();
      await dialog.waitFor({ state: "detached" });
    };

    await person.go("overview", "Overview");
    await linkByPage();
    await page.getByRole("button", { name: "Link the account" }).waitFor({ state: "detached" });

    await expect.poll(() => platform.isConnected, { timeout: 120_000 }).toBe(true);
    platform.logOut();
    // The page as a person finds it later.
    await expect
      .poll(async () => (await daemon.request("/api/channels", { token })).text(), { timeout: 120_000 })
      .toContain("svc channels link provider_a");
    await page.reload();
    await linkByPage();
    expect(platform.violations).toEqual([]);
    person.expectCalm();
  } finally {
    await browser.close();
  }
});

/** What a camera before the screen sees. Another browser context decodes the picture: the page itself forbids it. */
async function pictureOf(browser: Browser, shown: Locator): Promise<Picture> {
  const png = (await shown.screenshot()).toString("base64");
  const page = await browser.newPage();
  try {
    const { pixels, width, height } = await page.evaluate(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width;
      canvas.height = image.height;
      const context = canvas.getContext("2d")!;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      return { pixels: Array.from(data), width: image.width, height: image.height };
    }, png);
    return { pixels: Uint8ClampedArray.from(pixels), width, height };
  } finally {
    await page.close();
  }
}
