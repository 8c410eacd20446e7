/** One page, with what it did that nobody asked for. */
import type { DriverDialog } from "@svc/kit/browser";
import type { Dialog, Download, Page, Request } from "playwright-core";

export interface TabEvents {
  /** A file was offered. */
  download(download: Download): void;
  closed(tab: Tab): void;
  note(text: string): void;
}

export class Tab {
  readonly page: Page;
  crashed = false;
  /** Since the last result; of very many the first. */
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

  /** What dialogs said since it was asked last. */
  takeDialogs(): readonly DriverDialog[] {
    return this.dialogs.splice(0);
  }

  /** Resolves when the page that was asked for has come or failed; at once when none was. */
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
    // A page that asks whether it may be left is left.
    const answered = kind === "beforeunload" ? dialog.accept() : dialog.dismiss();
    answered.catch(() => undefined);
    if (this.dialogs.length < MAX_DIALOGS_KEPT) this.dialogs.push({ kind, message: dialog.message().slice(0, 1000) });
    if (this.#dialogCount !== MAX_DIALOGS) return;
    events.note("A tab opened dialogs without end, and was closed.");
    this.page.close().catch(() => undefined);
  }
}

const MAX_DIALOGS_KEPT = 5;
/** A page that opens more is there to keep its visitor from leaving. */
const MAX_DIALOGS = 50;
