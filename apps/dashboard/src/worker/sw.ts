/**
 * Keeps the sign-in's csrf value while a page is reloaded, or a second tab opened. In memory only: it ends with the worker,
 * soon after the last page. It touches no request and caches nothing.
 */
interface Kept {
  readonly csrf: string;
  readonly device: unknown;
}

interface Asked {
  readonly type: "keep" | "ping" | "ask" | "forget";
  readonly kept?: Kept;
}

declare const self: ServiceWorkerGlobalScope;

serve(self);

function serve(worker: ServiceWorkerGlobalScope): void {
  let held: Kept | undefined;
  worker.addEventListener("install", () => void worker.skipWaiting());
  worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
  worker.addEventListener("message", ({ data, source, ports }) => {
    // A browser lets nobody else in; should one ever do, it is told nothing.
    if (!(source instanceof Client) || new URL(source.url).origin !== worker.location.origin) return;
    const { type, kept } = data as Asked;
    // A ping only fills what was lost: a tab that does not know yet of a newer sign-in must not undo it.
    if (type === "keep" || (type === "ping" && held === undefined)) held = kept;
    if (type === "forget") held = undefined;
    ports[0]?.postMessage(held ?? null);
  });
}
