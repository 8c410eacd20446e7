/** The pages of one browser. There is always a current one. */
import { type Clock, SvcError } from "@svc/contract";
import { withTimeout } from "@svc/kit/async";
import { type DriverDialog, type DriverTab, pageCrashed } from "@svc/kit/browser";
import type { BrowserContext, Dialog, Download, Page, Request } from "playwright-core";

export class Tabs {
  readonly #context: BrowserContext;
  readonly #clock: Pick<Clock, "after">;
  readonly #onDownload: (download: Download) => void;
  readonly #tabs: Tab[] = [];
  readonly #notes: string[] = [];
  #current: Tab | undefined;
  /** Pages that this class is opening: they get no note. */
  #opening = 0;

  constructor(context: BrowserContext, clock: Pick<Clock, "after">, onDownload: (download: Download) => void) {
    this.#context = context;
    this.#clock = clock;
    this.#onDownload = onDownload;
    for (const page of context.pages()) this.#adopt(page);
    context.on("page", (page) => this.#appeared(page));
    this.#current = this.#tabs[0];
  }

  /** The page that actions use. Throws BROWSER_FAILED if it crashed; the next call gets an empty one. */
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
    await withinMs(tab.page.close(), CLOSE_MS, this.#clock).catch(() => undefined);
  }

  async list(): Promise<DriverTab[]> {
    const titled = this.#tabs.map(async (tab) => ({
      url: tab.page.url(),
      title: await titleOf(tab, this.#clock),
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

/** Blank for a page that does not answer. */
export const titleOf = async (tab: Tab, clock: Pick<Clock, "after">): Promise<string> =>
  tab.crashed ? "" : withinMs(tab.page.title(), TITLE_MS, clock).catch(() => "");

const noSuchTab = (): SvcError =>
  new SvcError("BROWSER_FAILED", "There is no tab of this number.", { hint: "tabs list shows the numbers." });

/** Rejects with NO_ANSWER if `work` takes longer. The work itself goes on: only a page that hangs keeps it from ending. */
export const withinMs = <T>(work: Promise<T>, timeoutMs: number, clock: Pick<Clock, "after">): Promise<T> =>
  withTimeout({ clock, timeoutMs, error: () => NO_ANSWER }, () => work);

export const NO_ANSWER = new Error("it does not answer");

// One page, with events that no action caused: dialogs, downloads, crashes.

interface TabEvents {
  /** A file was offered. */
  download(download: Download): void;
  closed(tab: Tab): void;
  note(text: string): void;
}

export class Tab {
  readonly page: Page;
  crashed = false;
  /** Since the last result; at most the first few. */
  dialogs: DriverDialog[] = [];
  /** Address of the last navigation of the whole page that failed, redirects followed. */
  failedAddress: string | undefined;
  #dialogCount = 0;
  #navigation: Request | undefined;
  #arrived = Promise.withResolvers<void>();

  constructor(page: Page, events: TabEvents) {
    this.page = page;
    page.on("dialog", (dialog) => this.#dismiss(dialog, events));
    page.on("crash", () => (this.crashed = true));
    page.on("close", () => events.closed(this));
    page.on("download", (download) => events.download(download));
    page.on("filechooser", () => events.note("The page asked for a file; use upload to give it one."));
    page.on("request", (request) => this.#requested(request));
    page.on("requestfailed", (request) => this.#failed(request));
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame()) this.#ended();
    });
  }

  /** Dialogs since the last call. */
  takeDialogs(): readonly DriverDialog[] {
    return this.dialogs.splice(0);
  }

  /** Resolves when the navigation has arrived or failed; at once without one. */
  async arrival(): Promise<void> {
    if (this.#navigation !== undefined) await this.#arrived.promise;
  }

  #requested(request: Request): void {
    if (!request.isNavigationRequest() || request.frame() !== this.page.mainFrame()) return;
    if (this.#navigation === undefined) this.#arrived = Promise.withResolvers<void>();
    this.#navigation = request;
    this.failedAddress = undefined;
  }

  #failed(request: Request): void {
    if (request !== this.#navigation) return;
    // A download, an answer without content, or a newer navigation: the page stays as it is.
    if (request.failure()?.errorText === "net::ERR_ABORTED") return this.#ended();
    // The browser shows an error page in a moment, which ends it.
    this.failedAddress = request.url();
  }

  #ended(): void {
    this.#navigation = undefined;
    this.#arrived.resolve();
  }

  #dismiss(dialog: Dialog, events: TabEvents): void {
    const kind = dialog.type() as DriverDialog["kind"];
    this.#dialogCount += 1;
    // "Leave this page?" is answered with yes.
    const answered = kind === "beforeunload" ? dialog.accept() : dialog.dismiss();
    answered.catch(() => undefined);
    if (this.dialogs.length < MAX_DIALOGS_KEPT) this.dialogs.push({ kind, message: dialog.message().slice(0, 1000) });
    if (this.#dialogCount !== MAX_DIALOGS) return;
    events.note("A tab opened dialogs without end, and was closed.");
    this.page.close().catch(() => undefined);
  }
}

const MAX_DIALOGS_KEPT = 5;
/** A page that opens more wants to keep its visitor from leaving. */
const MAX_DIALOGS = 50;
