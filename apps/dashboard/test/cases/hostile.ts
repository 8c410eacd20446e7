import { expect, test } from "vitest";
import { seriousFindings } from "../house/axe.ts";
import { signedIn } from "../house/person.ts";
import { writeProcedure } from "../house/procedures.ts";
import type { Scene } from "../house/scene.ts";

/** Each would run, load or leave the page if it were ever taken for markup or for a link. */
const IMAGE = `<img src=x onerror="window.hacked=1">`;
const SCRIPT = `"><script>window.hacked=1</script>`;
const LINK = [
  "[click](javascript:window.hacked=1) javascript:window.hacked=1 vbscript:window.hacked=1",
  "data:text/html,<script>parent.hacked=1</script> <svg onload=window.hacked=1></svg>",
  `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe> <a href=javascript:window.hacked=1>x</a>`,
  "<style>*{background:url(https://foreign.example/css)}</style> <base href=https://foreign.example/>",
  "<meta http-equiv=refresh content=0;url=https://foreign.example/> <form action=https://foreign.example/></form>",
].join(" ");
/** What each of them would be in the page. */
const MARKUP =
  "main :is(img, script, iframe, style, base, meta, [onload], [onerror], [action*=foreign]), a:is([href^='javascript:' i], [href^='vbscript:' i], [href^='data:' i])";

export function hostileCases(scene: () => Scene): void {
  test("words of others stay words: in messages, names, titles, outputs and events", async () => {
    const { browser, house } = scene();
    await using person = await signedIn(browser, house);
    const { page } = person;
    await house.rename(IMAGE);
    await person.go("events", "Live events");
    writeProcedure(house.home, "hostile", {
      toml: `[sop]
description = '${IMAGE} ${SCRIPT}'
version = "1.0"
execution_mode = "auto"

[[triggers]]
type = "manual"
`,
      md: `# ${SCRIPT}\n\n## Steps\n\n1. **${IMAGE}** — ${SCRIPT}\n`,
    });
    await house.write({ text: `${IMAGE} ${LINK}`, name: SCRIPT });
    await house.ask(IMAGE.replaceAll(" ", "_"), "1", `${IMAGE}`, `${SCRIPT} ${LINK}`);
    await house.daemon.request("/webhook", {
      token: house.token,
      headers: { "X-Session-Id": "hostile" },
      body: { message: `${IMAGE} ${LINK}` },
    });
    await house.daemon.request("/api/channel-events", {
      method: "POST",
      body: { type: SCRIPT, content: { title: IMAGE }, channels: [] },
    });
    await page.getByText(`${SCRIPT} · ${IMAGE}`).waitFor();

    const shows = (text: string): Promise<void> => page.getByText(text).first().waitFor();
    await person.go("approvals", "Approvals");
    await shows(SCRIPT);
    await person.go("inbox", "Inbox and dead letters");
    await shows(IMAGE);
    await page.getByRole("row").filter({ hasText: IMAGE }).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: /Message (in|out)-/ }).waitFor();
    // What was sent is drawn as Markdown, what came in stays as it is.
    await shows("vbscript:window.hacked=1");
    await person.go("", "Chats");
    // Its title and its preview are the sender's words, too.
    const titled = page.locator(".chat-title", { hasText: IMAGE });
    await page.getByRole("link").filter({ has: titled }).first().click();
    await page.getByRole("heading", { level: 1 }).filter({ hasText: IMAGE }).waitFor();
    await shows(LINK);
    await page.getByLabel("Search all messages").fill("onerror");
    await page.getByRole("list", { name: "Results" }).getByRole("link").first().waitFor();
    await person.go("devices", "Devices");
    await shows(IMAGE);
    await person.go("procedures/hostile", "hostile");
    await shows(SCRIPT);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: /of hostile/ }).waitFor();
    await shows(IMAGE);
    await person.go("audit", "Audit log");

    expect(await page.evaluate("window.hacked")).toBe(undefined);
    expect(await page.locator(MARKUP).count()).toBe(0);
    person.expectCalm();
  });

  test("what a model writes is drawn as it is meant: nothing of it runs or loads, and code is copied to the letter", async () => {
    const { browser, house } = scene();
    // A colour that is on its way to another one is looked at as neither.
    await using person = await signedIn(browser, house, { reducedMotion: "reduce" });
    const { page } = person;
    await person.go("chat", "New chat");
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("Show everything");
    await box.press("Enter");
    const answer = page
      .getByRole("list", { name: "Messages" })
      .getByRole("listitem")
      .filter({ hasText: "Release 1.4" });
    await answer.getByRole("heading", { name: "Release 1.4" }).waitFor();
    await answer.getByRole("table").waitFor();
    const link = answer.getByRole("link", { name: "the notes" });
    expect(await link.getAttribute("href")).toBe("https://notes.example/1.4");
    expect(await link.getAttribute("rel")).toContain("noreferrer");
    await answer.getByText("https://bank.example (evil.example)").waitFor();
    await answer.getByText("Picture: a cat (pictures.example)").waitFor();
    await answer.getByText("<script>window.hacked=1</script>").waitFor();
    await answer.locator(".hl-keyword").first().waitFor();
    await person.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await answer.getByRole("button", { name: "Copy" }).first().click();
    await answer.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(
      "// Three times as fast.\nexport const search = (words: string): number => words.length * 3;",
    );
    expect(await page.evaluate("window.hacked")).toBe(undefined);
    expect(await page.locator(MARKUP).count()).toBe(0);
    for (const colors of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: colors });
      expect(await seriousFindings(page, colors === "dark")).toEqual([]);
    }
    person.expectCalm();
  });

  test("an address that somebody made up shows that nothing is there", async () => {
    const { browser, house } = scene();
    await using person = await signedIn(browser, house);
    const { page } = person;
    for (const view of [
      "nowhere",
      "sessions/..%2f..%2fstatus",
      "runs/%E0%A4%A",
      "inbox/%3Cimg%3E",
      "__proto__/x",
      "chat/x",
    ]) {
      await page.goto(`${house.url}/#/${view}`);
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    }
    person.expectCalm();
  });
}
