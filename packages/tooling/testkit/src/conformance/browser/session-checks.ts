/** Browsers are one client's each, and end. */
import { setTimeout as pause } from "node:timers/promises";
import { demand, outcomeOf } from "../../check.ts";
import { browserFixture } from "./fixture.ts";
import type { BrowserBench, BrowserCheck } from "./subject.ts";

export const sessionChecks = (bench: BrowserBench): BrowserCheck[] => [
  {
    name: "two clients share no cookie, no storage and no page",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      const url = fixture.sites.url("/cookie");
      const [ada, bob] = [{ client: "ada" }, { client: "bob" }];
      await fixture.call({ action: "open", url }, ada);
      await fixture.call({ action: "open", url }, ada);
      const again = await fixture.call({ action: "get_text" }, ada);
      demand(
        /cookie: there[^]*storage: there/.test(again.content ?? ""),
        `a client's own are not kept: ${again.content}`,
      );
      demand((await fixture.refusal({ action: "get_text" }, bob)).code === "BROWSER_FAILED", "bob sees ada's page");
      await fixture.call({ action: "open", url }, bob);
      const { content = "" } = await fixture.call({ action: "get_text" }, bob);
      demand(/cookie: none[^]*storage: none/.test(content), `bob has ada's: ${content}`);
    },
  },
  {
    name: "after close everything is forgotten",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/cookie") });
      await fixture.call({ action: "close" });
      await fixture.call({ action: "open", url: fixture.sites.url("/cookie") });
      const { content = "" } = await fixture.call({ action: "get_text" });
      demand(/cookie: none[^]*storage: none/.test(content), `it remembers: ${content}`);
    },
  },
  {
    name: "a turn that is stopped stops the action, and the browser can be used on",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/") });
      const stop = new AbortController();
      const waiting = outcomeOf(() => fixture.call({ action: "wait", text: "never there" }, { signal: stop.signal }));
      await pause(300);
      stop.abort(new Error("stopped"));
      const outcome = await waiting;
      demand(outcome.kind === "rejected", `it ${outcome.kind}`);
      demand((await fixture.call({ action: "get_title" })).title === "Front page", "the page is lost");
    },
  },
  {
    name: "an action that is stopped while it waits for its element acts no more",
    needs: ["click"],
    async run() {
      await using fixture = await browserFixture(bench);
      // Its button appears after a while, and is clicked if the call still waits then.
      await fixture.call({ action: "open", url: fixture.sites.url("/late") });
      const stop = new AbortController();
      const click = outcomeOf(() => fixture.call({ action: "click", target: "#late" }, { signal: stop.signal }));
      await pause(300);
      stop.abort(new Error("stopped"));
      const outcome = await click;
      demand(outcome.kind === "rejected", `it ${outcome.kind}`);
      await fixture.call({ action: "wait", seconds: 2 });
      demand((await fixture.call({ action: "get_title" })).title === "Waiting", "it has clicked all the same");
    },
  },
  {
    name: "shutdown ends the browsers, and no call starts another",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/") });
      await fixture.made.shutdown?.();
      const error = await fixture.refusal({ action: "open", url: fixture.sites.url("/") });
      demand(error.code === "BROWSER_UNAVAILABLE", `a call after shutdown is ${error.code}`);
    },
  },
];
