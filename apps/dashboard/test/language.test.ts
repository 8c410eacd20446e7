// The page uses the browser's language before the sign-in, another one once it is chosen, and the same after a reload;
// no text of the earlier language may remain.
import { expect, test } from "vitest";
import { meet } from "./fixture/person.ts";
import { sharedScene } from "./fixture/scene.ts";

const scene = sharedScene();

test("a German browser signs in in German and switches to Chinese without a reload", async () => {
  const { browser, fixture } = scene();
  await using person = await meet(browser, fixture, { locale: "de-DE" });
  const { page } = person;
  await page.getByText("Stattdessen ein Token verwenden").click();
  expect(await page.title()).toBe("Anmelden · svc");
  await page.getByLabel("Token").fill("no token");
  await page.keyboard.press("Enter");
  // An error of the service, by its code.
  await page.getByRole("alert").getByText("Dafür ist ein gültiges Token nötig.").waitFor();
  await page.getByLabel("Token").fill(fixture.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Chats", exact: true }).waitFor();

  // Typed text must still be there: nothing is reloaded.
  await page.getByLabel("Alle Nachrichten durchsuchen").fill("draft");
  await person.go("appearance", "Darstellung");
  const load = await page.evaluate<number>("performance.timeOrigin");
  await page.getByLabel("Sprache").selectOption({ label: "简体中文" });
  await page.getByRole("heading", { level: 1, name: "外观" }).waitFor();
  expect(await page.evaluate("document.documentElement.lang")).toBe("zh-Hans");
  await expect.poll(() => page.title()).toBe("外观 · svc");
  expect(await page.evaluate("performance.timeOrigin")).toBe(load);
  await page.getByRole("navigation", { name: "设置" }).getByRole("link", { name: "设备" }).click();
  await page.getByRole("heading", { level: 1, name: "设备" }).waitFor();

  await page.reload();
  await page.getByRole("heading", { level: 1, name: "设备" }).waitFor();
  person.expectCalm();
});

test("forms have labels and help in the language; the daemon's text is marked as English", async () => {
  const { browser, fixture } = scene();
  await using person = await meet(browser, fixture, { locale: "de-DE" });
  const { page } = person;
  await page.getByText("Stattdessen ein Token verwenden").click();
  await page.getByLabel("Token").fill(fixture.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Chats", exact: true }).waitFor();
  await person.go("settings/gateway", "Netzwerk");
  await page.getByLabel("Größte Anfrage in Bytes").waitFor();
  await page.getByText("Die HTTPS-URL, die Anbieter aufrufen.").waitFor();
  await person.go("doctor", "Prüfungen");
  const message = page.locator(".finding-text bdi").first();
  await message.waitFor();
  expect(await message.getAttribute("lang")).toBe("en");
  person.expectCalm();
});
