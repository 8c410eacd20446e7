import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { signedIn } from "../fixture/person.ts";
import { writeProcedure } from "../fixture/procedures.ts";
import type { Scene } from "../fixture/scene.ts";

const ATTACK = '<img src=x onerror="alert(1)">';

export function procedureCases(scene: () => Scene): void {
  describe("a procedure", () => {
    test.each([
      ["at a desk", "tidy-desk", { width: 1280, height: 800 }],
      ["on a phone", "tidy-phone", { width: 360, height: 740 }],
    ])("is written, tried, enabled and followed %s", async (_, name, viewport) => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { viewport });
      const { page } = person;
      await person.go("procedures", "Procedures");
      await page.getByRole("link", { name: "New procedure" }).click();
      await page.getByLabel("Name").fill("No Name");
      await page.getByRole("button", { name: "Create" }).click();
      await page.getByRole("alert").waitFor();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Create" }).click();
      await page.getByLabel("Purpose").fill(`Tidies up ${ATTACK}`);
      await page.getByLabel("Title").fill(ATTACK);
      await page.getByLabel("What to do").fill("Say hello.");
      await page.getByLabel("Wait for approval before it").check();

      // The source follows the form, what is wrong in it is said with its line, and the form follows the source.
      await side(page, "Source");
      // The source shows the file that was edited last.
      await expect
        .poll(() => page.getByRole("textbox", { name: "SOP.md" }).inputValue())
        .toContain("requires_confirmation");
      await page.getByRole("group", { name: "File" }).getByRole("button", { name: "SOP.toml" }).click();
      const toml = page.getByRole("textbox", { name: "SOP.toml" });
      await expect.poll(() => toml.inputValue()).toContain("Tidies up");
      const source = await toml.inputValue();
      await toml.fill(source.replace('execution_mode = "supervised"', 'execution_mode = "superviced"'));
      const problems = page.getByRole("list", { name: "Problems" });
      await problems.getByRole("button", { name: "SOP.toml:4" }).click();
      expect(await toml.evaluate((area: HTMLTextAreaElement) => area.selectionStart)).toBeGreaterThan(0);
      expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
      await toml.fill(source.replace('execution_mode = "supervised"', 'execution_mode = "auto"'));
      await page.getByText("No problems. Not saved yet.").waitFor();
      await side(page, "Form");
      expect(await page.getByLabel("Mode").inputValue()).toBe("auto");
      await page.getByRole("button", { name: "Save" }).click();

      await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
      await page.getByText("Disabled: nothing starts it").waitFor();
      await page.getByRole("button", { name: "Start a test run" }).click();
      await page.getByRole("heading", { level: 1, name: /^Test run #\d+/ }).waitFor();
      await page.getByText(`Test: ${name}: ${ATTACK}`).first().waitFor();
      await approve(page);
      await page.getByRole("link", { name: "The procedure" }).click();
      await page.getByRole("button", { name: "Enable" }).click();
      await page.getByRole("button", { name: "Disable" }).waitFor();

      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: /^Run #\d+/ }).waitFor();
      await approve(page);
      await page.getByRole("button", { name: /^Retry from step 1/ }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
      await page.getByText("the run before").waitFor();
      await approve(page);
      person.expectCalm();
    });

    test("does not overwrite what another browser has saved meanwhile", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const other = await person.tab();
      for (const page of [person.page, other])
        await person.go("edit-procedure/nightly-report", "Edit nightly-report", page);
      await other.getByLabel("Purpose").fill("Changed by the other");
      await other.getByText("No problems. Not saved yet.").waitFor();
      await other.getByRole("button", { name: "Save" }).click();
      await other.getByText("No problems. Saved.").waitFor();
      const { page } = person;
      await page.getByLabel("Purpose").fill("Mine");
      await page.getByText("No problems. Not saved yet.").waitFor();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("SOP_CHANGED").waitFor();
      await page.getByRole("button", { name: /^Drop my changes/ }).click();
      await expect.poll(() => page.getByLabel("Purpose").inputValue()).toBe("Changed by the other");
      await person.go("calendar", "Calendar");
      await expect.poll(() => page.getByRole("link", { name: "nightly-report" }).count()).toBeGreaterThan(5);
      person.expectCalm();
    });

    test.each([
      ["at a desk", "old-desk", { width: 1280, height: 800 }],
      ["on a phone", "old-phone", { width: 360, height: 740 }],
    ])("is renamed, deleted and brought back %s, with every change to be seen", async (_, name, viewport) => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { viewport });
      const { page } = person;
      writeProcedure(fixture.home, name, {
        toml: `[sop]\ndescription = '${ATTACK}'\nversion = '${ATTACK}'\n\n[[triggers]]\ntype = "manual"\n`,
        md: `# ${ATTACK}\n\n## Steps\n\n1. **${ATTACK}** — ${ATTACK}\n`,
      });
      await person.go(`procedures/${name}`, name);
      await page.getByRole("button", { name: "Rename" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("New name").fill("No Name");
      await dialog.getByRole("button", { name: "Rename" }).click();
      await dialog.getByText("SOP_INVALID").waitFor();
      await dialog.getByLabel("New name").fill(`new-${name}`);
      await dialog.getByRole("button", { name: "Rename" }).click();
      await page.getByRole("heading", { level: 1, name: `new-${name}`, exact: true }).waitFor();

      await page.getByRole("button", { name: "Delete" }).click();
      await dialog.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("heading", { level: 1, name: "Saved changes" }).waitFor();
      const deletion = page.locator("details").filter({ hasText: `new-${name} deleted` });
      await deletion.locator("summary").click();
      await deletion.getByText(`1. **${ATTACK}** — ${ATTACK}`).waitFor();
      await deletion.getByRole("button", { name: /^Undo change/ }).click();
      await dialog.getByText(`description = '${ATTACK}'`).waitFor();
      await dialog.getByRole("button", { name: "Undo" }).click();
      await expect.poll(() => page.getByText(`new-${name} change undone`).count()).toBe(1);

      await person.go(`procedure-changes/new-${name}`, "Saved changes");
      const renaming = page.locator("details").filter({ hasText: `${name} → new-${name}` });
      await renaming.locator("summary").click();
      await renaming.getByRole("button", { name: /^Undo change/ }).click();
      await dialog.getByText(`new-${name}/SOP.toml`).waitFor();
      await dialog.getByRole("button", { name: "Undo" }).click();
      await dialog.waitFor({ state: "detached" });
      await person.go(`procedures/${name}`, name);
      await page.getByRole("button", { name: "Rename" }).waitFor();
      person.expectCalm();
    });

    test("is read-only for a device with the scope read", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { name: "Hall", scope: "read" });
      const { page } = person;
      await person.go("procedures/site-release", "site-release");
      expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
      expect(await page.getByRole("button", { name: /Enable|Disable|test run|Rename|Delete/ }).count()).toBe(0);
      person.expectCalm();
    });
  });
}

/** On a phone one of the two is shown at a time. */
async function side(page: Page, name: "Form" | "Source"): Promise<void> {
  const button = page.getByRole("button", { name, exact: true });
  if (await button.isVisible()) await button.click();
}

async function approve(page: Page): Promise<void> {
  await page
    .locator("[aria-current=step]")
    .getByRole("button", { name: /^Approve/ })
    .click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Cancel the run" }).count()).toBe(0);
}
