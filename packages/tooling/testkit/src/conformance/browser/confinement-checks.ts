/** No page, whatever it does, reaches a machine that it may not reach. Told by that machine: it has seen nothing. */
import { demand } from "../../check.ts";
import { browserHouse, type House } from "./house.ts";
import type { BrowserBench, BrowserCheck } from "./subject.ts";

export const confinementChecks = (bench: BrowserBench): BrowserCheck[] => [
  {
    name: "open refuses hosts off the list, addresses of private networks however they are written, and all but http and https",
    async run() {
      await using house = await browserHouse(bench);
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
      for (const url of [...house.sites.forbiddenUrls, ...others].filter((text) => text !== "")) {
        const error = await house.refusal({ action: "open", url });
        demand(["DOMAIN_REFUSED", "ADDRESS_REFUSED"].includes(error.code), `${url} is ${error.code}`);
      }
      nothingReached(house);
    },
  },
  {
    name: "an empty list lets nothing through, and says so",
    async run() {
      await using house = await browserHouse(bench, { allowed_domains: [] });
      const error = await house.refusal({ action: "open", url: house.sites.url("/") });
      demand(error.code === "DOMAIN_REFUSED", `it is ${error.code}`);
      demand(error.message.includes("no allowed_domains configured"), `it says ${error.message}`);
      demand(house.sites.asked.length === 0, "the site was asked all the same");
    },
  },
  {
    name: "with every host on the list, private addresses are refused all the same",
    async run() {
      await using house = await browserHouse(bench, { allowed_domains: ["*"] });
      for (const url of house.sites.forbiddenUrls) {
        const { code } = await house.refusal({ action: "open", url });
        demand(code === "ADDRESS_REFUSED", `${url} is ${code}`);
      }
      nothingReached(house);
    },
  },
  ...["/redirect", "/redirect-tls", "/redirect-local", "/redirect-twice"].map((path) => ({
    name: `a redirect to a forbidden host is refused and told: ${path}`,
    needs: ["get_text"] as const,
    async run() {
      await using house = await browserHouse(bench);
      const error = await house.refusal({ action: "open", url: house.sites.url(path) });
      demand(["DOMAIN_REFUSED", "ADDRESS_REFUSED"].includes(error.code), `it is ${error.code}: ${error.message}`);
      demand(/evil\.test|127\.0\.0\.1/.test(error.message), `the host is not told: ${error.message}`);
      nothingReached(house);
    },
  })),
  ...["/meta", "/script-away"].map((path) => ({
    name: `a page that goes away by itself gets nowhere: ${path}`,
    proxied: true,
    async run() {
      await using house = await browserHouse(bench);
      await house.call({ action: "open", url: house.sites.url(path) }).catch(() => undefined);
      await house.call({ action: "wait", seconds: 1 }).catch(() => undefined);
      await nothingTold(house);
    },
  })),
  {
    name: "links, popups, forms and file: links that are clicked lead to no forbidden place",
    proxied: true,
    needs: ["click"],
    async run() {
      await using house = await browserHouse(bench);
      for (const [role, name] of [
        ["link", "Leave"],
        ["button", "Popup"],
        ["button", "Post"],
        ["link", "Passwords"],
      ] as const) {
        await house.call({ action: "open", url: house.sites.url("/leave") });
        const target = await house.ref(role, `"${name}"`);
        await house.call({ action: "click", target }).catch(() => undefined);
        await nothingTold(house);
      }
    },
  },
  {
    name: "a click that leads to a forbidden host is told as that",
    proxied: true,
    needs: ["click"],
    async run() {
      await using house = await browserHouse(bench);
      await house.call({ action: "open", url: house.sites.url("/leave") });
      const error = await house.refusal({ action: "click", target: await house.ref("link", "Leave") });
      demand(
        error.code === "DOMAIN_REFUSED" && error.message.includes("evil.test"),
        `it is ${error.code}: ${error.message}`,
      );
      await house.call({ action: "open", url: house.sites.url("/") });
      demand((await house.call({ action: "get_title" })).title === "Front page", "the browser is of no use any more");
    },
  },
  {
    name: "nothing in a page reaches a forbidden host: frames, images, styles, scripts, fetches, sockets, beacons, forms, workers, WebRTC",
    proxied: true,
    async run() {
      await using house = await browserHouse(bench);
      await house.call({ action: "open", url: house.sites.url("/everything") });
      await house.sites.untilAsked("GET /all-tried");
      // What a page sends late, when it is left.
      await house.call({ action: "open", url: house.sites.url("/") });
      await house.call({ action: "wait", seconds: 0.5 });
      demand(house.sites.asked.includes("GET /attempt-worker.js"), "the page did not get far enough to try");
      nothingReached(house);
    },
  },
  {
    name: "requests of a page that were refused are told with their hosts",
    proxied: true,
    async run() {
      await using house = await browserHouse(bench);
      const { notes = [] } = await house.call({ action: "open", url: house.sites.url("/everything") });
      const later = await house.call({ action: "wait", seconds: 1 });
      const all = [...notes, ...(later.notes ?? [])].join(" ");
      demand(all.includes("evil.test") && all.includes("127.0.0.1"), `the notes are ${all}`);
    },
  },
];

function nothingReached({ sites }: House): void {
  demand(sites.reached.length === 0, `the forbidden machine has seen: ${sites.reached.join(" | ")}`);
}

async function nothingTold(house: House): Promise<void> {
  const told = await house.call({ action: "get_text" }).catch((error: Error) => ({ content: error.message }));
  demand(!/FORBIDDEN-PAGE|root:.*:0:0/.test(told.content ?? ""), `the model has read: ${told.content}`);
  nothingReached(house);
}
