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

interface Held {
  kept: Kept | undefined;
}

declare const self: ServiceWorkerGlobalScope;

const held: Held = { kept: undefined };

self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("message", ({ data, source, ports }) => {
  // A browser lets nobody else in; should one ever do, it is told nothing.
  if (!(source instanceof Client) || new URL(source.url).origin !== self.location.origin) return;
  const { type, kept } = data as Asked;
  // A ping only fills what was lost: a tab that does not know yet of a newer sign-in must not undo it.
  if (type === "keep" || (type === "ping" && held.kept === undefined)) held.kept = kept;
  if (type === "forget") held.kept = undefined;
  ports[0]?.postMessage(held.kept ?? null);
});
