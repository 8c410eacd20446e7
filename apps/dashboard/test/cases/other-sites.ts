import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { Scene } from "../fixture/scene.ts";

export function otherSiteCases(scene: () => Scene): void {
  // By one name it is another site to the browser, by the other one another port of the same site.
  test.each(["localhost", "127.0.0.1"])(
    "a link at %s opens the page; nothing else of ours is for that site",
    async (host) => {
      const { browser, fixture } = scene();
      const server = createServer((_incoming, outgoing) =>
        outgoing.setHeader("content-type", "text/html").end(`<!doctype html><a href="${fixture.url}/">svc</a>`),
      );
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const there = `http://${host}:${(server.address() as AddressInfo).port}/`;
      const context = await browser.newContext();
      try {
        context.setDefaultTimeout(60_000);
        const page = await context.newPage();
        await page.goto(there);
        await page.getByRole("link", { name: "svc" }).click();
        await page.getByLabel("Pairing code").waitFor();
        expect(page.url().startsWith(fixture.url)).toBe(true);

        await page.goto(there);
        const fetched = async (path: string): Promise<number> => {
          const url = `${fixture.url}${path}`;
          const answer = page.waitForResponse(url);
          await page.evaluate(`void fetch(${JSON.stringify(url)}, { mode: "no-cors" }).catch(() => {})`);
          return (await answer).status();
        };
        for (const path of ["/", "/metrics", "/openapi.json", "/api/status"])
          expect([path, await fetched(path)]).toEqual([path, 403]);
        expect(await fetched("/health")).toBe(200);
      } finally {
        await context.close();
        server.closeAllConnections();
        server.close();
      }
    },
  );
}
