import { createServer, connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

/** A second address of this machine, with the service's port: of another port the service takes no page for its own. */
const ADDRESS = "127.0.0.2";

/** The way to the service, which can be cut: connections end, and new ones are refused at once. */
async function cable(url: string) {
  const port = Number(new URL(url).port);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy();
    const service = connect(port, "127.0.0.1");
    for (const one of [socket, service]) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        (one === socket ? service : socket).destroy();
      });
    }
    socket.pipe(service).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, ADDRESS, resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://${ADDRESS}:${port}`,
    cut,
    restore: () => (isCut = false),
    [Symbol.dispose]() {
      cut();
      server.close();
    },
  };
}

export function networkLossCases(scene: () => Scene): void {
  describe("a lost network", () => {
    test.each([
      ["a desktop", { width: 1280, height: 800 }],
      ["a phone", { width: 390, height: 844 }],
    ] as const)("costs no word on %s: while writing, sending, answering and asking", async (_, viewport) => {
      const { browser, fixture } = scene();
      using network = await cable(fixture.url);
      await using person = await signedIn(browser, { ...fixture, url: network.url }, { viewport });
      const { page } = person;
      const thread = page.getByRole("list", { name: "Messages" });
      const box = page.getByRole("textbox", { name: "Message" });
      const lost = page.getByText("connecting again");
      await person.go("chat", "New chat");

      // While writing, and while sending: pressed once, it is sent once, when that is possible.
      await box.fill("begin, and only half");
      network.cut();
      await lost.waitFor();
      await box.press("Enter");
      await page.getByText("The message is sent when the connection is back.").waitFor();
      expect(await box.inputValue()).toBe("begin, and only half");
      network.restore();
      await page.waitForURL(/#\/sessions\//);
      await thread.getByText("This is the").waitFor();
      expect(await thread.getByText("begin, and only half", { exact: true }).count()).toBe(1);

      // While it is answered: the text so far stays, and Stop works when the network is back.
      network.cut();
      await lost.waitFor();
      await thread.getByText("This is the").waitFor();
      network.restore();
      await lost.waitFor({ state: "hidden" });
      await thread.getByText("This is the").waitFor();
      expect(await thread.getByText("This is the").count()).toBe(1);
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await thread.getByText("and the second half.").waitFor();

      // While it asks: an answer that did not get out says so, and is given again.
      await box.fill("begin and hang");
      await box.press("Enter");
      const allow = page.getByRole("button", { name: /^Allow once #/ });
      await allow.waitFor();
      network.cut();
      await lost.waitFor();
      await allow.click();
      await page.getByRole("alert").first().waitFor();
      network.restore();
      await lost.waitFor({ state: "hidden" });
      await allow.click();
      await thread.getByText("There are three files").waitFor();
      expect(await thread.getByText("begin and hang", { exact: true }).count()).toBe(1);
      person.expectCalm();
    });
  });
}
