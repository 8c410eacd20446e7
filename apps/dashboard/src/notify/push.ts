/**
 * Push messages: the browser's push service wakes the worker of this page while no page is open. The daemon sends a tag, and the
 * request itself only to a browser that opted in.
 */
import type { PushState } from "@svc/api";
import type { Api } from "../client/api.ts";
import { Cell } from "../cell.ts";
import { workerAddress } from "./notifier.ts";

export type PushSwitchState =
  | { readonly phase: "unsupported" | "blocked" | "unknown" | "off" }
  | ({ readonly phase: "on" } & NonNullable<PushState["subscription"]>);

const STORAGE_KEY = "svc.push";

export class PagePush {
  readonly state: Cell<PushSwitchState>;
  readonly #window: Window & typeof globalThis;
  readonly #api: Pick<Api, "call" | "get">;

  constructor(window: Window & typeof globalThis, api: Pick<Api, "call" | "get">) {
    this.#window = window;
    this.#api = api;
    this.state = new Cell<PushSwitchState>({ phase: this.#obstacle() ?? "unknown" });
  }

  /** After a new sign-in, or a changed subscription of the browser: subscribes again with the earlier choice. */
  async resume(): Promise<void> {
    if (this.#obstacle() !== undefined || this.#wanted() === undefined) return;
    await this.speak();
    const answer = await this.#api.get<PushState>("/api/push");
    const own = await (await this.#registration())?.pushManager.getSubscription();
    if (answer.subscription !== null && own) return this.#show(answer);
    if (own || this.#window.Notification.permission === "granted") await this.#subscribe(this.#wanted() === "details");
  }

  /** Throws ApiError. */
  async read(): Promise<void> {
    const obstacle = this.#obstacle();
    if (obstacle !== undefined) this.state.set({ phase: obstacle });
    else this.#show(await this.#api.get<PushState>("/api/push"));
  }

  /** Call from a click: browsers show the permission prompt only then. Throws ApiError or the browser's error. */
  async turnOn(details: boolean): Promise<void> {
    if ((await this.#window.Notification.requestPermission()) !== "granted") return this.read();
    await this.#subscribe(details);
  }

  async turnOff(): Promise<void> {
    this.#want(undefined);
    const answer = await this.#api.call<PushState>("/api/push", { method: "DELETE" });
    const own = await (await this.#registration())?.pushManager.getSubscription();
    await own?.unsubscribe();
    this.#show(answer);
  }

  /** Throws ApiError with what the push service said. */
  async test(): Promise<void> {
    try {
      await this.#api.call("/api/push/test", { method: "POST" });
    } finally {
      await this.read();
    }
  }

  /** The language changed: registers an existing worker again with the new texts. */
  async speak(): Promise<void> {
    if (this.#obstacle() === "unsupported" || (await this.#registration()) === undefined) return;
    await this.#window.navigator.serviceWorker.register(workerAddress());
  }

  async #subscribe(details: boolean): Promise<void> {
    const { public_key: applicationServerKey } = await this.#api.get<PushState>("/api/push");
    const { serviceWorker } = this.#window.navigator;
    await serviceWorker.register(workerAddress());
    const { pushManager } = await serviceWorker.ready;
    const options = { userVisibleOnly: true, applicationServerKey };
    // A subscription with an older server key blocks the new one.
    const own = await pushManager.subscribe(options).catch(async (error: unknown) => {
      const older = await pushManager.getSubscription();
      if (!older) throw error;
      await older.unsubscribe();
      return pushManager.subscribe(options);
    });
    const { endpoint, keys } = own.toJSON();
    this.#show(await this.#api.call<PushState>("/api/push", { method: "PUT", body: { endpoint, keys, details } }));
    this.#want(details ? "details" : "on");
  }

  #show({ subscription }: PushState): void {
    this.state.set(subscription === null ? { phase: "off" } : { phase: "on", ...subscription });
  }

  #obstacle(): "unsupported" | "blocked" | undefined {
    const { Notification, PushManager, isSecureContext, navigator } = this.#window;
    const isThere = (Notification as unknown) !== undefined && (PushManager as unknown) !== undefined;
    if (!isSecureContext || !isThere || (navigator.serviceWorker as unknown) === undefined) return "unsupported";
    return Notification.permission === "denied" ? "blocked" : undefined;
  }

  #registration(): Promise<ServiceWorkerRegistration | undefined> {
    return this.#window.navigator.serviceWorker.getRegistration("/");
  }

  #wanted(): string | undefined {
    try {
      return this.#window.localStorage.getItem(STORAGE_KEY) ?? undefined;
    } catch {
      return undefined;
    }
  }

  #want(value: string | undefined): void {
    try {
      if (value === undefined) this.#window.localStorage.removeItem(STORAGE_KEY);
      else this.#window.localStorage.setItem(STORAGE_KEY, value);
    } catch {
      // Storage is disabled: the choice lasts until the sign-in ends.
    }
  }
}
