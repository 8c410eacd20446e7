/** No page, whatever it does, reaches a machine that it may not reach. Told by that machine: it has seen nothing. */
import { demand } from "../../check.ts";
import { browserFixture, type Fixture } from "./fixture.ts";
import type { BrowserBench, BrowserCheck } from "./subject.ts";

export const confinementChecks = (bench: BrowserBench): BrowserCheck[] => [
  {
    name: "open refuses hosts off the list, addresses of private networks however they are written, and all but http and https",
    async run() {
      await using fixture = await browserFixture(bench);
      const others = [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "view-source:http://x.test/",
        "chrome://version",
        "about:blank",
        "ftp://x.test/",
        "",
        "x",
      ];
      for (const url of [...fixture.sites.forbiddenUrls, ...others].filter((text) => text !== "")) {
        const error = await fixture.refusal({ action: "open", url });
        demand(["DOMAIN_REFUSED", "ADDRESS_REFUSED"].includes(error.code), `${url} is ${error.code}`);
      }
      nothingReached(fixture);
    },
  },
  {
    name: "an empty list lets nothing through, and says so",
    async run() {
      await using fixture = await browserFixture(bench, { allowed_domains: [] });
      const error = await fixture.refusal({ action: "open", url: fixture.sites.url("/") });
      demand(error.code === "DOMAIN_REFUSED", `it is ${error.code}`);
      demand(error.message.includes("no allowed_domains configured"), `it says ${error.message}`);
      demand(fixture.sites.asked.length === 0, "the site was asked all the same");
    },
  },
  {
    name: "with every host on the list, private addresses are refused all the same",
    async run() {
      await using fixture = await browserFixture(bench, { allowed_domains: ["*"] });
      for (const url of fixture.sites.forbiddenUrls) {
        const { code } = await fixture.refusal({ action: "open", url });
        demand(code === "ADDRESS_REFUSED", `${url} is ${code}`);
      }
      nothingReached(fixture);
    },
  },
  ...["/redirect", "/redirect-tls", "/redirect-local", "/redirect-twice"].map((path) => ({
    name: `a redirect to a forbidden host is refused and told: ${path}`,
    needs: ["get_text"] as const,
    async run() {
      await using fixture = await browserFixture(bench);
      const error = await fixture.refusal({ action: "open", url: fixture.sites.url(path) });
      demand(["DOMAIN_REFUSED", "ADDRESS_REFUSED"].includes(error.code), `it is ${error.code}: ${error.message}`);
      demand(/evil\.test|127\.0\.0\.1/.test(error.message), `the host is not told: ${error.message}`);
      nothingReached(fixture);
    },
  })),
  ...["/meta", "/script-away"].map((path) => ({
    name: `a page that goes away by itself gets nowhere: ${path}`,
    proxied: true,
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url(path) }).catch(() => undefined);
      await fixture.call({ action: "wait", seconds: 1 }).catch(() => undefined);
      await nothingTold(fixture);
    },
  })),
  {
    name: "links, popups, forms and file: links that are clicked lead to no forbidden place",
    proxied: true,
    needs: ["click"],
    async run() {
      await using fixture = await browserFixture(bench);
      for (const [role, name] of [
        ["link", "Leave"],
        ["button", "Popup"],
        ["button", "Post"],
        ["link", "Passwords"],
      ] as const) {
        await fixture.call({ action: "open", url: fixture.sites.url("/leave") });
        const target = await fixture.ref(role, `"${name}"`);
        await fixture.call({ action: "click", target }).catch(() => undefined);
        await nothingTold(fixture);
      }
    },
  },
  {
    name: "a click that leads to a forbidden host is told as that",
    proxied: true,
    needs: ["click"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/leave") });
      const error = await fixture.refusal({ action: "click", target: await fixture.ref("link", "Leave") });
      demand(
        error.code === "DOMAIN_REFUSED" && error.message.includes("evil.test"),
        `it is ${error.code}: ${error.message}`,
      );
      await fixture.call({ action: "open", url: fixture.sites.url("/") });
      demand((await fixture.call({ action: "get_title" })).title === "Front page", "the browser is of no use any more");
    },
  },
  {
    name: "nothing in a page reaches a forbidden host: frames, images, styles, scripts, fetches, sockets, beacons, forms, workers, WebRTC",
    proxied: true,
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/everything") });
      await fixture.sites.untilAsked("GET /all-tried");
      // What a page sends late, when it is left.
      await fixture.call({ action: "open", url: fixture.sites.url("/") });
      await fixture.call({ action: "wait", seconds: 0.5 });
      demand(fixture.sites.asked.includes("GET /attempt-worker.js"), "the page did not get far enough to try");
      nothingReached(fixture);
    },
  },
  {
    name: "requests of a page that were refused are told with their hosts",
    proxied: true,
    async run() {
      await using fixture = await browserFixture(bench);
      const { notes = [] } = await fixture.call({ action: "open", url: fixture.sites.url("/everything") });
      const later = await fixture.call({ action: "wait", seconds: 1 });
      const all = [...notes, ...(later.notes ?? [])].join(" ");
      demand(all.includes("evil.test") && all.includes("127.0.0.1"), `the notes are ${all}`);
    },
  },
];

function nothingReached({ sites }: Fixture): void {
  demand(sites.reached.length === 0, `the forbidden machine has seen: ${sites.reached.join(" | ")}`);
}

async function nothingTold(fixture: Fixture): Promise<void> {
  const page = await fixture.call({ action: "get_text" }).catch((error: Error) => ({ content: error.message }));
  demand(!/FORBIDDEN-PAGE|root:.*:0:0/.test(page.content ?? ""), `the model has read: ${page.content}`);
  nothingReached(fixture);
}
