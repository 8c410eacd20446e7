/**
 * Opt-in browser notifications: they say that an approval is pending, but not for what. A locked screen shows them to anyone, so
 * they contain no command, file or name.
 */
import { Cell } from "../cell.ts";
import { t } from "../texts/texts.ts";

const STORAGE_KEY = "svc.notifications";

/** `off`: not enabled. `blocked`: refused in the browser's settings. */
export type NotifierState = "off" | "on" | "blocked" | "unsupported";

export class Notifier {
  readonly state: Cell<NotifierState>;
  readonly #window: Window & typeof globalThis;

  constructor(window: Window & typeof globalThis) {
    this.#window = window;
    this.state = new Cell(this.#stateNow());
  }

  /** Call from a click: browsers show the permission prompt only then. */
  async turnOn(): Promise<void> {
    const { Notification, navigator } = this.#window;
    if ((await Notification.requestPermission()) === "granted") {
      // Phones show notifications of workers only. This one caches nothing and answers no request.
      await navigator.serviceWorker?.register(workerAddress()).catch(() => undefined);
      this.#want(true);
    }
    this.state.set(this.#stateNow());
  }

  async turnOff(): Promise<void> {
    this.#want(false);
    const registration = await this.#window.navigator.serviceWorker?.getRegistration("/");
    // Push messages need the worker too.
    if ((await registration?.pushManager?.getSubscription()) == null) await registration?.unregister();
    this.state.set(this.#stateNow());
  }

  /** Notifies about a pending approval, unless the page has the focus. A notification replaces an earlier one with the same `tag`. */
  async approvalRequested(tag: string): Promise<void> {
    const { document, navigator, Notification } = this.#window;
    if (this.state.value !== "on" || (document.visibilityState === "visible" && document.hasFocus())) return;
    const options = {
      body: t("notify.an-approval-is-waiting"),
      tag,
      icon: "/icon-192.png",
      data: { href: "/#/approvals" },
    };
    const registration = await navigator.serviceWorker?.getRegistration("/").catch(() => undefined);
    if (registration?.active) return registration.showNotification("svc", options);
    try {
      const shown = new Notification("svc", options);
      shown.addEventListener("click", () => {
        this.#window.focus();
        this.#window.location.hash = "#/approvals";
        shown.close();
      });
    } catch {
      // This browser shows notifications of workers only, and the worker is not active yet.
    }
  }

  #stateNow(): NotifierState {
    const { Notification, isSecureContext } = this.#window;
    if (!isSecureContext || (Notification as unknown) === undefined) return "unsupported";
    if (Notification.permission === "denied") return "blocked";
    return Notification.permission === "granted" && this.#isWanted() ? "on" : "off";
  }

  #isWanted(): boolean {
    try {
      return this.#window.localStorage.getItem(STORAGE_KEY) === "on";
    } catch {
      return false;
    }
  }

  #want(isWanted: boolean): void {
    try {
      if (isWanted) this.#window.localStorage.setItem(STORAGE_KEY, "on");
      else this.#window.localStorage.removeItem(STORAGE_KEY);
    } catch {
      // Storage is disabled: the choice lasts until the page is closed.
    }
  }
}

/**
 * Address of the worker that shows notifications. It runs without a page, so its address contains its texts, in the language of the page
 * that registered it. Another language is another address, which replaces the worker.
 */
export const workerAddress = (): string =>
  `/sw.js?${new URLSearchParams({ waiting: t("notify.an-approval-is-waiting"), works: t("notify.push-messages-work") })}`;
