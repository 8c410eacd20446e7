/**
 * pdf.js can fetch fonts, CMaps and programs of WebAssembly, and would do so by URL. Here it has nothing to do it with: what it may
 * have is handed to it (cmaps.ts).
 */
export function withoutTheWorld(world: object, console: Console): void {
  for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "WebAssembly", "Worker", "navigator"]) {
    Object.defineProperty(world, name, { value: undefined, configurable: true, writable: true });
  }
  // Its warnings quote the file, and the output is for lines of JSON.
  for (const name of ["log", "info", "warn", "error", "debug", "trace"] as const) console[name] = () => undefined;
}
