/** Pages that are there to wear a visitor out: each costs a bounded time and tells a bounded text, and the browser works on. */
import { demand } from "../../check.ts";
import { browserFixture, type Fixture } from "./fixture.ts";
import type { BrowserBench, BrowserCheck } from "./subject.ts";

/** A turn cuts what is longer. */
const MOST_CHARS = 65_536;

export const hostilityChecks = (bench: BrowserBench): BrowserCheck[] => [
  {
    name: "what a page says stays data: marked, in its own fields, without control characters",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/inject") });
      const page = await fixture.call({ action: "get_text" });
      const { content = "", untrusted, notes = [] } = page;
      demand(content.includes("maintenance mode"), "the text is not told");
      demand(untrusted !== undefined && /data/.test(untrusted), "nothing says that it is data");
      demand(!notes.join().includes("maintenance"), "the page speaks in the tool's notes");
      // Control characters move a terminal's cursor, and direction marks turn what a person reads around.
      demand(!/[^\P{Cc}\n\t]|\p{Bidi_Control}/u.test(page.title + content), "characters are told that nobody sees");
    },
  },
  {
    name: "dialogs are dismissed and told, and the page goes on",
    proxied: true,
    async run() {
      await using fixture = await browserFixture(bench);
      const opened = await fixture.call({ action: "open", url: fixture.sites.url("/dialogs") });
      const waited = await fixture.call({ action: "wait", text: "confirmed: false, prompted: null" });
      const after = await fixture.call({ action: "get_text" });
      demand(after.content?.includes("confirmed: false") === true, `the page says ${after.content}`);
      const dialogs = [opened, waited, after].flatMap(({ dismissed_dialogs: some = [] }) => some);
      demand(
        dialogs.some(({ message }) => message === "an alert"),
        "nothing is told of the dialogs",
      );
    },
  },
  {
    name: "a storm of dialogs keeps nobody",
    proxied: true,
    run: () => survives(bench, "/storm"),
  },
  {
    name: "a page whose script never ends keeps nobody",
    proxied: true,
    async run() {
      await using fixture = await browserFixture(bench);
      for (const action of ["open", "get_text"]) {
        await fixture.call({ action: "open", url: fixture.sites.url(`/spin#${action}`) });
        await fixture.sites.untilAsked(`GET /held-${action}`);
        fixture.sites.release();
        await fixture.sites.untilAsked(`POST /spinning-${action}`);
        if (action !== "open") await fixture.call({ action }).catch(() => undefined);
        await worksOn(fixture);
      }
    },
  },
  {
    name: "a page that never ends is read as far as it came",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/endless") }).catch(() => undefined);
      await worksOn(fixture);
    },
  },
  {
    name: "a page that never answers ends in its time",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      const { code } = await fixture.refusal({ action: "open", url: fixture.sites.url("/never") });
      demand(["REMOTE_TIMEOUT", "BROWSER_FAILED", "REMOTE_UNREACHABLE"].includes(code), `it is ${code}`);
      await worksOn(fixture);
    },
  },
  {
    name: "of a huge page a bounded part is told",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/huge") });
      const page = await fixture.call({ action: "get_text" });
      demand(page.truncated === true, "nothing says that it was cut");
      demand(JSON.stringify(page).length < MOST_CHARS, `it tells ${JSON.stringify(page).length} characters`);
      const tree = await fixture.call({ action: "snapshot" }).catch(() => undefined);
      demand(JSON.stringify(tree ?? null).length < MOST_CHARS, "the snapshot is too long");
      await worksOn(fixture);
    },
  },
  {
    name: "a page that opens windows without end has a few",
    proxied: true,
    needs: ["tabs"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/popups") });
      await fixture.call({ action: "click", target: await fixture.ref("button", "Many") }).catch(() => undefined);
      const { tabs = [] } = await fixture.call({ action: "tabs", op: "list" });
      demand(tabs.length <= 30, `there are ${tabs.length} tabs`);
      await worksOn(fixture);
    },
  },
];

async function survives(bench: BrowserBench, path: string): Promise<void> {
  await using fixture = await browserFixture(bench);
  await fixture.call({ action: "open", url: fixture.sites.url(path) }).catch(() => undefined);
  await fixture.call({ action: "get_text" }).catch(() => undefined);
  await fixture.call({ action: "get_text" }).catch(() => undefined);
  await worksOn(fixture);
}

async function worksOn(fixture: Fixture): Promise<void> {
  const opened = await fixture.call({ action: "open", url: fixture.sites.url("/") });
  demand(opened.title === "Front page", `the page that is opened next is ${opened.title}`);
  const { content = "" } = await fixture.call({ action: "get_text" });
  demand(content.includes("Nothing unusual here."), `its text is ${content}`);
}
