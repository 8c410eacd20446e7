/** Every action, on pages that mean no harm. */
import { demand } from "../../check.ts";
import { browserFixture } from "./fixture.ts";
import type { BrowserBench, BrowserCheck } from "./subject.ts";

export const actionChecks = (bench: BrowserBench): BrowserCheck[] => [
  {
    name: "open, get_url, get_title, get_text, snapshot and close tell of the page",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      const opened = await fixture.call({ action: "open", url: fixture.sites.url("/") });
      demand(opened.backend === bench.subject.backend, `the backend is called ${opened.backend}`);
      demand(opened.title === "Front page", `the title is ${opened.title}`);
      demand(
        (await fixture.call({ action: "get_url" })).url === fixture.sites.url("/"),
        "get_url tells another address",
      );
      demand((await fixture.call({ action: "get_title" })).title === "Front page", "get_title tells another title");
      const text = await fixture.call({ action: "get_text" });
      demand(text.content?.includes("Nothing unusual here.") === true, `the text is ${text.content}`);
      demand(text.untrusted !== undefined, "the page's words are not marked as a stranger's");
      const { content = "" } = await fixture.call({ action: "snapshot" });
      demand(/link "To the form".*\[ref=@?e[0-9]+\]/.test(content), `no link with a ref is in ${content}`);
      const { content: few = "" } = await fixture.call({ action: "snapshot", interactive: true });
      demand(few.includes("To the form") && !few.includes("unusual"), `an interactive snapshot is ${few}`);
      await fixture.call({ action: "close" });
      demand((await fixture.refusal({ action: "snapshot" })).code === "BROWSER_FAILED", "a closed browser has a page");
    },
  },
  {
    name: "fill, type, select, press and click send a form",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/form") });
      await fixture.call({ action: "fill", target: await fixture.ref("textbox", "Name"), text: "Ada & Söhne" });
      await fixture.call({ action: "type", target: "textarea", text: "typed" });
      await fixture.call({ action: "press", target: "textarea", key: "End" });
      await fixture.call({ action: "select", target: await fixture.ref("combobox"), values: ["green"] });
      await fixture.call({ action: "click", target: await fixture.ref("button", "Send") });
      await fixture.sites.untilAsked("GET /sent");
      await fixture.call({ action: "wait", text: "Received:" });
      const { content = "", url } = await fixture.call({ action: "get_text" });
      demand(url.includes("/sent"), `the page is ${url}`);
      demand(/name=Ada\+%26\+S%C3%B6hne/.test(content), `the form sent ${content}`);
      demand(content.includes("colour=green") && content.includes("note=typed"), `the form sent ${content}`);
    },
  },
  {
    name: "click twice, hover, scroll and wait do what they say",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/form") });
      await fixture.call({ action: "click", target: "#twice", double: true });
      await fixture.call({ action: "hover", target: "#here" });
      await fixture.call({ action: "click", target: await fixture.ref("button", "Later") });
      await fixture.call({ action: "wait", text: "came late" });
      const { content = "" } = await fixture.call({ action: "get_text", target: "#said" });
      demand(content.includes("double") && content.includes("hovered"), `the page said ${content}`);
      await fixture.call({ action: "scroll", direction: "down", pixels: 900 });
      await fixture.call({ action: "wait", seconds: 0.3 });
      demand((await fixture.call({ action: "get_title" })).title === "scrolled", "the page was not scrolled");
    },
  },
  {
    name: "find by role, label and text gives refs that work",
    needs: ["find"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/form") });
      for (const [input, action] of [
        [
          { by: "role", value: "textbox", name: "Name" },
          { action: "fill", text: "by role" },
        ],
        [
          { by: "label", value: "Note" },
          { action: "fill", text: "by label" },
        ],
        [{ by: "text", value: "Send" }, { action: "click" }],
      ] as const) {
        const { content = "" } = await fixture.call({ action: "find", ...input });
        const [, ref] = /ref=(@?[a-z0-9]+)\]/.exec(content) ?? [];
        demand(ref !== undefined, `find ${input.by} told no ref: ${content}`);
        await fixture.call({ ...action, target: ref.startsWith("@") ? ref : `@${ref}` });
      }
      await fixture.sites.untilAsked("GET /sent");
      const nothing = await fixture.refusal({ action: "find", by: "text", value: "no such text anywhere" });
      demand(nothing.code === "BROWSER_FAILED", `nothing found is ${nothing.code}`);
    },
  },
  {
    name: "a ref of an element that is gone, or of no snapshot, is refused at once with a sentence",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/form") });
      const old = await fixture.ref("button", "Old");
      await fixture.call({ action: "click", target: await fixture.ref("button", "Remove") });
      for (const target of [old, "@e99999"]) {
        const error = await fixture.refusal({ action: "click", target });
        demand(error.code === "BROWSER_FAILED", `${target} is ${error.code}`);
        demand(/snapshot/.test(`${error.message} ${error.hint}`), `nothing says to take a snapshot: ${error.message}`);
      }
      const error = await fixture.refusal({ action: "click", target: ":::" });
      demand(error.code === "BROWSER_FAILED", `a target that is no selector is ${error.code}`);
    },
  },
  {
    name: "tabs are listed, opened, switched to and closed",
    needs: ["tabs"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/") });
      const { tabs = [] } = await fixture.call({ action: "tabs", op: "new", url: fixture.sites.url("/form") });
      demand(tabs.length === 2, `there are ${tabs.length} tabs`);
      demand((await fixture.call({ action: "get_title" })).title === "Form", "the new tab is not the current one");
      await fixture.call({ action: "tabs", op: "switch", tab: 0 });
      demand((await fixture.call({ action: "get_title" })).title === "Front page", "it did not switch");
      const closed = await fixture.call({ action: "tabs", op: "close", tab: 1 });
      demand(closed.tabs?.length === 1, `after closing there are ${closed.tabs?.length} tabs`);
      demand(
        (await fixture.refusal({ action: "tabs", op: "switch", tab: 7 })).code === "BROWSER_FAILED",
        "tab 7 is there",
      );
    },
  },
  {
    name: "a page that the server does not have is told with its status, one that can't be reached as that",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      const missing = await fixture.call({ action: "open", url: fixture.sites.url("/no-such-page") });
      demand(
        missing.title === "Not here" || missing.notes?.some((note) => note.includes("404")) === true,
        "it tells nothing",
      );
      // The list has it, and nobody listens there: the port is the discard service's.
      const error = await fixture.refusal({ action: "open", url: fixture.sites.url("/").replace(/:[0-9]+\//, ":9/") });
      demand(["REMOTE_UNREACHABLE", "ADDRESS_REFUSED"].includes(error.code), `an unreachable page is ${error.code}`);
    },
  },
];
