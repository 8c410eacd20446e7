/**
 * Opt-in browser notifications: they say that an approval is pending, but not for what. A locked screen shows them to anyone, so
 * they contain no command, file or name.
 */
import { Cell } from "../state/cell.ts";
import { t } from "../texts/texts.ts";

const WANTED = "svc.notifications";

/** `off`: not asked for. `blocked`: the browser refuses, and only its own settings change that. */
export type NotifierState = "off" | "on" | "blocked" | "unsupported";

export class Notifier {
  readonly state: Cell<NotifierState>;
  readonly #window: Window & typeof globalThis;

  constructor(window: Window & typeof globalThis) {
    this.#window = window;
    this.state = new Cell(this.#stateNow());
  }

  /** Called by a click: browsers ask their person for nothing else. */
  async turnOn(): Promise<void> {
    const { Notification, navigator } = this.#window;
    if ((await Notification.requestPermission()) === "granted") {
      // Phones show notifications only of a worker. It keeps nothing and answers no request.
      await navigator.serviceWorker?.register(workerAddress()).catch(() => undefined);
      this.#want(true);
    }
    this.state.set(this.#stateNow());
  }

  async turnOff(): Promise<void> {
    this.#want(false);
    const registration = await this.#window.navigator.serviceWorker?.getRegistration("/");
    // Push messages need the worker, too.
    if ((await registration?.pushManager?.getSubscription()) == null) await registration?.unregister();
    this.state.set(this.#stateNow());
  }

  /** A yes is wanted. Nothing where the page is looked at. `tag`: another one of the same tag takes its place. */
  async approvalWanted(tag: string): Promise<void> {
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
      // A browser that shows them of a worker only, whose worker is not there yet.
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
      return this.#window.localStorage.getItem(WANTED) === "on";
    } catch {
      return false;
    }
  }

  #want(isWanted: boolean): void {
    try {
      if (isWanted) this.#window.localStorage.setItem(WANTED, "on");
      else this.#window.localStorage.removeItem(WANTED);
    } catch {
      // Switched off by the browser's settings: the choice ends with the page.
    }
  }
}

/**
 * The worker that shows notifications. It has no page to ask while it works, so its address brings its texts along, in the language of the
 * page that registered it; one of another language takes its place.
 */
export const workerAddress = (): string =>
  `/sw.js?${new URLSearchParams({ waiting: t("notify.an-approval-is-waiting"), works: t("notify.push-messages-work") })}`;
