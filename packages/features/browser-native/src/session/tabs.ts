/** The pages of one browser. There is always a current one. */
import { SvcError } from "@svc/contract";
import { type DriverTab, pageCrashed } from "@svc/kit/browser";
import type { BrowserContext, Download, Page } from "playwright-core";
import { Tab } from "./tab.ts";
import { withinMs } from "./within.ts";

export class Tabs {
  readonly #context: BrowserContext;
  readonly #onDownload: (download: Download) => void;
  readonly #tabs: Tab[] = [];
  readonly #notes: string[] = [];
  #current: Tab | undefined;
  /** Pages that we open ourselves are no surprise. */
  #opening = 0;

  constructor(context: BrowserContext, onDownload: (download: Download) => void) {
    this.#context = context;
    this.#onDownload = onDownload;
    for (const page of context.pages()) this.#adopt(page);
    context.on("page", (page) => this.#appeared(page));
    this.#current = this.#tabs[0];
  }

  /** The page that actions are for. Throws BROWSER_FAILED when it crashed: the next call has an empty one. */
  async current(): Promise<Tab> {
    if (this.#current?.crashed === true) {
      await this.discard(this.#current);
      throw pageCrashed();
    }
    return this.#current ?? this.open();
  }

  /** The page for an `open`: a crashed one is replaced without a word. */
  async forOpen(): Promise<Tab> {
    if (this.#current?.crashed === true) await this.discard(this.#current);
    return this.#current ?? this.open();
  }

  async open(): Promise<Tab> {
    if (this.#tabs.length >= MAX_TABS) {
      throw new SvcError("BROWSER_FAILED", `A browser has at most ${MAX_TABS} tabs.`, {
        hint: "Close one with tabs close.",
      });
    }
    this.#opening += 1;
    try {
      const page = await this.#context.newPage();
      this.#current = this.#adopt(page);
      return this.#current;
    } finally {
      this.#opening -= 1;
    }
  }

  /** Makes it the current one again, if it is still there. */
  select(tab: Tab): void {
    if (this.#tabs.includes(tab)) this.#current = tab;
  }

  switchTo(index: number): Tab {
    const tab = this.#tabs[index];
    if (tab === undefined) throw noSuchTab();
    this.#current = tab;
    return tab;
  }

  async close(index: number): Promise<void> {
    const tab = this.#tabs[index];
    if (tab === undefined) throw noSuchTab();
    await this.discard(tab);
  }

  /** Closes a page, also one that does not answer. */
  async discard(tab: Tab): Promise<void> {
    this.#forget(tab);
    await withinMs(tab.page.close(), CLOSE_MS).catch(() => undefined);
  }

  async list(): Promise<DriverTab[]> {
    const titled = this.#tabs.map(async (tab) => ({
      url: tab.page.url(),
      title: await titleOf(tab),
      current: tab === this.#current,
    }));
    return Promise.all(titled);
  }

  note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }

  takeNotes(): readonly string[] {
    return this.#notes.splice(0);
  }

  #appeared(page: Page): void {
    if (this.#opening > 0) return;
    if (this.#tabs.some((tab) => tab.page === page)) return;
    if (this.#tabs.length >= MAX_TABS) {
      this.note("The page opened more tabs than there may be; they were closed.");
      page.close().catch(() => undefined);
      return;
    }
    this.#adopt(page);
    this.note("The page opened a tab; tabs list shows it, tabs switch goes there.");
  }

  #adopt(page: Page): Tab {
    const tab = new Tab(page, {
      download: this.#onDownload,
      closed: (tab) => this.#forget(tab),
      note: (text) => this.note(text),
    });
    this.#tabs.push(tab);
    return tab;
  }

  #forget(tab: Tab): void {
    const index = this.#tabs.indexOf(tab);
    if (index >= 0) this.#tabs.splice(index, 1);
    if (this.#current === tab) this.#current = this.#tabs.at(-1);
  }
}

const MAX_TABS = 10;
const CLOSE_MS = 3000;
const TITLE_MS = 1000;

/** A page that is busy with itself has none. */
export const titleOf = (tab: Tab): Promise<string> =>
  tab.crashed ? Promise.resolve("") : withinMs(tab.page.title(), TITLE_MS).catch(() => "");

const noSuchTab = (): SvcError =>
  new SvcError("BROWSER_FAILED", "There is no tab of this number.", { hint: "tabs list shows the numbers." });
