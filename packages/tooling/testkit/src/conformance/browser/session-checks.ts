/** Browsers are one client's each, and end. */
import { setTimeout as pause } from "node:timers/promises";
import { demand, outcomeOf } from "../../check.ts";
import { browserHouse } from "./house.ts";
import type { BrowserBench, BrowserCheck } from "./subject.ts";

export const sessionChecks = (bench: BrowserBench): BrowserCheck[] => [
  {
    name: "two clients share no cookie, no storage and no page",
    needs: ["get_text"],
    async run() {
      await using house = await browserHouse(bench);
      const url = house.sites.url("/cookie");
      const [ada, bob] = [{ client: "ada" }, { client: "bob" }];
      await house.call({ action: "open", url }, ada);
      await house.call({ action: "open", url }, ada);
      const again = await house.call({ action: "get_text" }, ada);
      demand(
        /cookie: there[^]*storage: there/.test(again.content ?? ""),
        `a client's own are not kept: ${again.content}`,
      );
      demand((await house.refusal({ action: "get_text" }, bob)).code === "BROWSER_FAILED", "bob sees ada's page");
      await house.call({ action: "open", url }, bob);
      const { content = "" } = await house.call({ action: "get_text" }, bob);
      demand(/cookie: none[^]*storage: none/.test(content), `bob has ada's: ${content}`);
    },
  },
  {
    name: "after close everything is forgotten",
    needs: ["get_text"],
    async run() {
      await using house = await browserHouse(bench);
      await house.call({ action: "open", url: house.sites.url("/cookie") });
      await house.call({ action: "close" });
      await house.call({ action: "open", url: house.sites.url("/cookie") });
      const { content = "" } = await house.call({ action: "get_text" });
      demand(/cookie: none[^]*storage: none/.test(content), `it remembers: ${content}`);
    },
  },
  {
    name: "a turn that is stopped stops the action, and the browser can be used on",
    needs: ["get_text"],
    async run() {
      await using house = await browserHouse(bench);
      await house.call({ action: "open", url: house.sites.url("/") });
      const stop = new AbortController();
      const waiting = outcomeOf(() => house.call({ action: "wait", text: "never there" }, { signal: stop.signal }));
      await pause(300);
      stop.abort(new Error("stopped"));
      const outcome = await waiting;
      demand(outcome.kind === "rejected", `it ${outcome.kind}`);
      demand((await house.call({ action: "get_title" })).title === "Front page", "the page is lost");
    },
  },
  {
    name: "an action that is stopped while it waits for its element acts no more",
    needs: ["click"],
    async run() {
      await using house = await browserHouse(bench);
      // Its button comes after a while, and is clicked if somebody still waits for it then.
      await house.call({ action: "open", url: house.sites.url("/late") });
      const stop = new AbortController();
      const click = outcomeOf(() => house.call({ action: "click", target: "#late" }, { signal: stop.signal }));
      await pause(300);
      stop.abort(new Error("stopped"));
      const outcome = await click;
      demand(outcome.kind === "rejected", `it ${outcome.kind}`);
      await house.call({ action: "wait", seconds: 2 });
      demand((await house.call({ action: "get_title" })).title === "Waiting", "it has clicked all the same");
    },
  },
  {
    name: "shutdown ends the browsers, and no call starts another",
    needs: ["get_text"],
    async run() {
      await using house = await browserHouse(bench);
      await house.call({ action: "open", url: house.sites.url("/") });
      await house.made.shutdown?.();
      const error = await house.refusal({ action: "open", url: house.sites.url("/") });
      demand(error.code === "BROWSER_UNAVAILABLE", `a call after shutdown is ${error.code}`);
    },
  },
];
