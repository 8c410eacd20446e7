import { describe, expect, test } from "vitest";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

export function approvalCases(scene: () => Scene): void {
  describe("approvals", () => {
    test("an answer in one page shows in a second one, with the person who answered", async () => {
      const { browser, fixture } = scene();
      await using anna = await signedIn(browser, fixture, { name: "anna" });
      await using bert = await signedIn(browser, fixture, { name: "bert" });
      await Promise.all([anna.go("approvals", "Approvals"), bert.go("approvals", "Approvals")]);
      await fixture.ask("release-7", "go", "Release 7?", "All tests are green.");
      const question = { name: /Approval #\d+: Release 7\?/ };
      await bert.page.getByRole("status").getByText("Approval requested: Release 7?").waitFor();
      await bert.page
        .getByRole("article", question)
        .getByRole("button", { name: /^Approve/ })
        .waitFor();

      const card = anna.page.getByRole("article", question);
      await card.getByLabel("Feedback (optional)").fill("after lunch");
      await card.getByRole("button", { name: /^Approve/ }).click();

      for (const { page } of [anna, bert]) {
        const settled = page.getByRole("article", question);
        await settled.getByText("approved").waitFor();
        await expect.poll(() => settled.count()).toBe(1);
        await settled.getByText("anna").waitFor();
        await settled.getByText("after lunch").waitFor();
        expect(await settled.getByRole("button").count()).toBe(0);
      }
      anna.expectCalm();
      bert.expectCalm();
    });

    test("a late answer shows who was first", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await fixture.ask("release-8", "go", "Release 8?");
      await person.go("approvals", "Approvals");
      const reject = page.getByRole("article", { name: /Release 8\?/ }).getByRole("button", { name: /^Reject/ });
      await reject.waitFor();
      // From here on the page hears of nothing: its buttons are old.
      await page.route("**/api/approvals?*", (route) => route.abort());
      await fixture.api("/api/approvals/release-8/go", { approved: true });
      await reject.click();
      await page.getByText(/was first, just now\. Your answer changed nothing\./).waitFor();
      await page.unroute("**/api/approvals?*");
      const { approvals } = await fixture.api<{ approvals: { run_id: string; status: string }[] }>("/api/approvals");
      expect(approvals.find(({ run_id: id }) => id === "release-8")?.status).toBe("approved");
    });
  });
}
