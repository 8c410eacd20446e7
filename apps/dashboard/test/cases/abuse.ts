import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openFixture } from "../fixture/fixture.ts";
import { type Person, signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

const IMAGE = `<img src=x onerror="window.hacked=1">`;
const MEBIBYTE = 1_048_576;

export function abuseCases(scene: () => Scene): void {
  describe("hostile pages and loads", () => {
    // Another port of the same host is the same site to a browser: it sends the cookie along.
    test("a page at another port can neither frame the page nor use its sign-in", async () => {
      const { browser, fixture } = scene();
      const server = createServer((_incoming, outgoing) =>
        outgoing.setHeader("content-type", "text/html").end(`<!doctype html><iframe src="${fixture.url}/"></iframe>`),
      );
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        await using person = await signedIn(browser, fixture);
        const { context, page } = person;
        const cookies = await context.cookies(fixture.url);
        expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
          ["svc_session", true, "Strict"],
        ]);
        const evil = await context.newPage();
        await evil.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
        const framed = evil.frameLocator("iframe").locator("#page");
        expect(await framed.count()).toBe(0);

        const tried = async (path: string, init: object): Promise<number | string> => {
          const url = JSON.stringify(`${fixture.url}${path}`);
          const seen = evil.waitForResponse((response) => response.url() === `${fixture.url}${path}`);
          const failed = evil.waitForEvent("requestfailed", (request) => request.url() === `${fixture.url}${path}`);
          const read = await evil.evaluate(
            `fetch(${url}, ${JSON.stringify({ credentials: "include", ...init })}).then((r) => r.text(), () => "")`,
          );
          expect(read).toBe("");
          return await Promise.race([seen.then((response) => response.status()), failed.then(() => "blocked")]);
        };
        for (const [method, path, more] of [
          ["GET", "/api/session", {}],
          ["GET", "/api/session", { mode: "no-cors" }],
          ["POST", "/api/session", { mode: "no-cors" }],
          ["DELETE", "/api/session", {}],
          ["GET", "/api/events", { mode: "no-cors" }],
          ["GET", "/api/config", { headers: { "X-Svc-Csrf": "guess" } }],
          ["POST", "/webhook", { mode: "no-cors", body: '{"message":"forged"}' }],
        ] as const) {
          expect([method, path, await tried(path, { method, ...more })]).toEqual([
            method,
            path,
            expect.toSatisfy((got: unknown) => got === "blocked" || got === 401 || got === 403),
          ]);
        }
        const socket = await evil.evaluate<string>(
          `new Promise((done) => {
            const ws = new WebSocket(${JSON.stringify(`${fixture.url.replace("http", "ws")}/ws`)}, ["svc.v1"]);
            ws.onopen = () => done("open");
            ws.onerror = () => done("refused");
          })`,
        );
        expect(socket).toBe("refused");

        // The sign-in is as it was.
        await page.reload();
        await page.getByRole("heading", { name: "Chats" }).first().waitFor();
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });

    test("values of the config and names of models stay text", async () => {
      const { browser } = scene();
      await using fixture = await openFixture((home) => {
        const file = join(home, "config.toml");
        const text = readFileSync(file, "utf8").replace('name = "local"', `name = '${IMAGE}'`);
        writeFileSync(
          file,
          `${text}\n[agent]\ninstructions = '''${IMAGE} </textarea><script>window.hacked=1</script>'''\n`,
        );
      });
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("overview", "Overview");
      await page.getByText(IMAGE).first().waitFor();
      await person.go("config", "Config");
      await page.getByText(`${IMAGE} </textarea>`).first().waitFor();
      await person.go("devices", "Devices");
      await person.go("features", "Features");
      expect(await page.evaluate("window.hacked")).toBe(undefined);
      expect(await page.locator("main :is(img, script, iframe), [onmouseover]").count()).toBe(0);
      person.expectCalm();
    });

    test("file names and tool outputs stay text", async () => {
      const { browser, fixture } = scene();
      writeFileSync(
        join(fixture.home, "workspace", `${IMAGE.replaceAll("/", "_")}.txt`),
        `${IMAGE}<script>window.hacked=1</script>`,
      );
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("list my workspace");
      await box.press("Enter");
      await page.getByRole("list", { name: "Messages" }).getByText("There are three files").waitFor();
      await page.getByText("Input and output").last().click();
      await page.getByText(".txt").first().waitFor();
      expect(await page.evaluate("window.hacked")).toBe(undefined);
      expect(await page.locator("main :is(img, script, iframe)").count()).toBe(0);
      person.expectCalm();
    });

    test("the second of two browsers that change one setting gets an error and overwrites nothing", async () => {
      const { browser, fixture } = scene();
      const file = join(fixture.home, "config.toml");
      await using first = await signedIn(browser, fixture);
      await using second = await signedIn(browser, fixture);
      const people = [
        [first, "read_only"],
        [second, "full"],
      ] as const;
      for (const [{ page, go }, autonomy] of people) {
        await go("settings/security.policy", "Policy");
        await page.getByLabel("Autonomy").selectOption(autonomy);
        await page.getByRole("button", { name: "Review changes" }).click();
        await page.getByRole("region", { name: "Changes of the file" }).getByText(autonomy).first().waitFor();
      }
      const save = ({ page }: Person): Promise<void> =>
        page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
      await save(first);
      await first.page.getByText("Saved and in force.").waitFor();
      await save(second);
      await second.page.getByRole("dialog").getByText("CONFIG_CHANGED").waitFor();
      expect(readFileSync(file, "utf8")).toContain('autonomy = "read_only"');
      await first.page.getByRole("button", { name: "Undo", exact: true }).click();
      await expect.poll(() => readFileSync(file, "utf8")).not.toContain("autonomy");
      first.expectCalm();
      second.expectCalm();
    });

    test("the page works beside two hundred tabs that follow the events of one device", async () => {
      const { browser, fixture } = scene();
      const url = `${fixture.url.replace("http", "ws")}/ws`;
      const tabs = Array.from({ length: 200 }, () => new WebSocket(url, ["svc.v1", `bearer.${fixture.token}`]));
      try {
        await Promise.all(
          tabs.map(
            (tab) =>
              new Promise<void>((resolve, reject) => {
                tab.addEventListener("open", () => resolve());
                tab.addEventListener("error", () => reject(new Error("a tab was refused")));
              }),
          ),
        );
        for (const tab of tabs) tab.send(JSON.stringify({ type: "resume" }));
        const seen = tabs.map(
          (tab) =>
            new Promise<void>((resolve) => {
              tab.addEventListener("message", ({ data }) => {
                if (String(data).includes("for-all-tabs")) resolve();
              });
            }),
        );
        await using person = await signedIn(browser, fixture);
        await person.go("events", "Live events");
        const body = { type: "for-all-tabs", content: { title: "hello" }, channels: [] };
        await fixture.daemon.request("/api/channel-events", { method: "POST", body });
        expect(await Promise.all(seen)).toHaveLength(200);
        await person.page.getByText("for-all-tabs").first().waitFor();
        person.expectCalm();
      } finally {
        for (const tab of tabs) tab.close();
      }
    });

    test("a message of five megabytes is refused with an error and stays in the box", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("hello");
      await box.press("Enter");
      await page.getByRole("list", { name: "Messages" }).getByText("You said: hello").waitFor();
      const huge = "five megabytes ".repeat(Math.ceil((5 * MEBIBYTE) / 15));
      await box.fill(huge);
      await box.press("Enter");
      await page.getByRole("alert").filter({ hasText: "TOO_LARGE" }).waitFor();
      expect((await box.inputValue()).length).toBe(huge.length);
      person.expectCalm();
    });
  });
}
