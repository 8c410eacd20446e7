import { describe, expect, test } from "vitest";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

export function restartCases(scene: () => Scene): void {
  describe("a service that is killed and restarted", () => {
    test("leaves nothing stale, double or missing on the page", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      const approvals = page;
      const events = await person.tab();
      const sessions = await person.tab();
      await fixture.ask("before", "1", "Asked before the kill");
      await person.go("approvals", "Approvals", approvals);
      await person.go("events", "Live events", events);
      await person.go("", "Chats", sessions);
      await approvals.getByRole("article", { name: /Asked before the kill/ }).waitFor();

      await fixture.kill();
      for (const tab of [approvals, events, sessions]) await tab.getByText("connecting again").waitFor();
      await fixture.start();
      // While no page looks: what happens now is in no event that any of them will hear of.
      await fixture.api("/api/approvals/before/1", { approved: false });
      await fixture.ask("between", "1", "Asked between");
      await fixture.daemon.request("/webhook", {
        token: fixture.token,
        headers: { "X-Session-Id": "between" },
        body: { message: "said in between" },
      });
      for (const tab of [approvals, events, sessions]) {
        await tab.getByText("connecting again").waitFor({ state: "hidden" });
      }
      await fixture.ask("after", "1", "Asked after");

      const waiting = approvals.getByRole("region", { name: "Waiting" });
      const settled = approvals.getByRole("region", { name: "Settled" });
      await waiting.getByRole("article", { name: /Asked after/ }).waitFor();
      await waiting.getByRole("article", { name: /Asked before the kill/ }).waitFor({ state: "detached" });
      await settled.getByRole("article", { name: /Asked before the kill/ }).waitFor();
      const served = await fixture.api<{ approvals: { title: string; status: string }[] }>("/api/approvals?limit=50");
      const titles = (wanted: boolean): string[] =>
        served.approvals
          .filter(({ status }) => (status === "waiting") === wanted)
          .map(({ title }) => (title === "May the agent run shell?" ? "Run a command?" : title));
      expect(await waiting.getByRole("heading", { level: 3 }).allTextContents()).toEqual(titles(true));
      expect(await settled.getByRole("heading", { level: 3 }).allTextContents()).toEqual(titles(false));

      await events.getByText("wanted: Asked after").waitFor();
      expect(await events.getByText("wanted: Asked after").count()).toBe(1);
      await sessions.getByRole("link", { name: "said in between" }).waitFor();
      expect(await sessions.getByRole("link", { name: "said in between" }).count()).toBe(1);
      person.expectCalm();
    });

    test("shows the unanswered message with the reason, and accepts the next one", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("never answer this either");
      await box.press("Enter");
      await page.getByRole("list", { name: "Messages" }).getByText("answering").waitFor();
      await fixture.kill();
      // What comes back is another version, with another page.
      await page.route(`${fixture.url}/`, (route) =>
        route.fulfill({ contentType: "text/html", body: "<title>svc</title>" }),
      );
      await fixture.start();
      await page.getByText("connecting again").waitFor({ state: "hidden" });
      await page.getByText("this page is of the version before").waitFor();
      // What was being answered died with the service.
      await page.getByText("TURN_INTERRUPTED").waitFor();
      await page.getByRole("list", { name: "Messages" }).getByText("never answer this either").waitFor();
      await expect.poll(() => page.getByText("answering", { exact: true }).count()).toBe(0);
      await box.fill("are you there?");
      await box.press("Enter");
      await page.getByRole("list", { name: "Messages" }).getByText("You said: are you there?").waitFor();
      person.expectCalm();
    });
  });
}
