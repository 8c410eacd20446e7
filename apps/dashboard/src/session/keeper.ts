/** The way to the service worker, which keeps the sign-in over a reload. Where there is none, nothing is kept. */
import type { Device } from "../api/shapes.ts";

export interface Kept {
  readonly csrf: string;
  readonly device: Device;
}

/** A worker that was asleep answers in a few milliseconds; one that is broken must not keep anybody from signing in. */
const ANSWER_MS = 1_000;

export class Keeper {
  readonly #workers: ServiceWorkerContainer | undefined;

  /** @param workers Undefined where the page is not served securely. */
  constructor(workers: ServiceWorkerContainer | undefined) {
    this.#workers = workers;
  }

  /** What an earlier page, or another tab, has left. Never rejects. */
  async ask(): Promise<Kept | undefined> {
    const kept = await this.#tell({ type: "ask" });
    return isKept(kept) ? kept : undefined;
  }

  /** Has the worker there before there is something to keep: who signs in may reload the page at once. */
  async prepare(): Promise<void> {
    try {
      await this.#workers?.register("/sw.js", { scope: "/", updateViaCache: "none" });
      await this.#workers?.ready;
    } catch {
      // Switched off by the browser's settings: each reload asks for a code or a token.
    }
  }

  async keep(kept: Kept): Promise<void> {
    await this.prepare();
    await this.#tell({ type: "keep", kept });
  }

  /** Keeps the worker awake, and tells one that had to start anew. */
  async ping(kept: Kept): Promise<void> {
    await this.#tell({ type: "ping", kept });
  }

  async forget(): Promise<void> {
    await this.#tell({ type: "forget" });
  }

  async #tell(message: object): Promise<unknown> {
    const registration = await this.#workers?.getRegistration("/").catch(() => undefined);
    const worker = registration?.active;
    if (!worker) return undefined;
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise((resolve) => {
      port1.addEventListener("message", ({ data }) => resolve(data));
      port1.start();
      setTimeout(resolve, ANSWER_MS);
    });
    worker.postMessage(message, [port2]);
    return answer.finally(() => port1.close());
  }
}

const isKept = (value: unknown): value is Kept =>
  typeof value === "object" && value !== null && typeof (value as Partial<Kept>).csrf === "string";
