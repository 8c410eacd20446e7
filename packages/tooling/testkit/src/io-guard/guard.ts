/**
 * Preloaded (`node --import`) into the child process that constructs a feature: once armed, every call that does I/O,
 * starts a timer, reads the environment or writes to the terminal is recorded with the line that made it, and fails.
 *
 * The module loader reads files too. The calling frame tells it apart: code that runs while a module is being
 * evaluated has the loader further down its stack, only for its own reads is the loader the nearest caller.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
// Its first import reads every member of process, the streams included; that must have happened before the guard is armed.
import "node:process";

export interface Violation {
  /** What was called: `fs.readFileSync`. */
  readonly what: string;
  /** The line of the feature (or its dependency) that called it. */
  readonly at: string;
}

export interface IoGuard {
  arm(): void;
  disarm(): void;
  /** Lets everything that is due happen once; a way past the guard for the process that runs it. */
  nextTurn(): Promise<void>;
  /** Records a call to something that isn't Node's; the error to throw. */
  violation(what: string): Error;
  readonly violations: readonly Violation[];
}

/** Where the child finds the guard that was preloaded before it. */
export const GUARD = Symbol.for("svc.io-guard");

const MODULES = [
  "child_process",
  "cluster",
  "dgram",
  "dns",
  "dns/promises",
  "fs",
  "fs/promises",
  "http",
  "http2",
  "https",
  "net",
  "readline",
  "sqlite",
  "timers",
  "timers/promises",
  "tls",
  "worker_threads",
] as const;

/** They look at their arguments only, or make an object that does nothing yet. */
const PURE = new Set([
  "fs.Stats",
  "fs.Dirent",
  "http.Agent",
  "http.validateHeaderName",
  "http.validateHeaderValue",
  "https.Agent",
  "http2.getDefaultSettings",
  "http2.getPackedSettings",
  "http2.getUnpackedSettings",
  "net.BlockList",
  "net.SocketAddress",
  "net.isIP",
  "net.isIPv4",
  "net.isIPv6",
  "timers.clearTimeout",
  "timers.clearInterval",
  "timers.clearImmediate",
  "tls.checkServerIdentity",
  "tls.getCiphers",
  "worker_threads.markAsUntransferable",
  "worker_threads.isMarkedAsUntransferable",
]);

/** Of these modules and globals only the functions named here touch the world. */
const SINGLE: readonly (readonly [object: string, names: readonly string[]])[] = [
  ["os", ["homedir", "hostname", "networkInterfaces", "tmpdir", "userInfo"]],
  ["process", ["chdir", "dlopen", "exit", "kill", "loadEnvFile"]],
  ["console", ["debug", "dir", "error", "info", "log", "table", "trace", "warn"]],
];

const GLOBALS = ["fetch", "setTimeout", "setInterval", "setImmediate", "WebSocket", "EventSource"] as const;

/** The module loader, and what Node does about an uncaught exception. */
const OWN = /\bnode:internal\/(?:modules\/|process\/execution\b)/;

function installGuard(): IoGuard {
  const require = createRequire(import.meta.url);
  const later = setImmediate;
  const violations: Violation[] = [];
  let armed = false;

  /** The stack of who called, without this file's own frames; undefined when the module loader itself did. */
  const blame = (what: string): Error | undefined => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 100;
    const frames = (new Error("guard").stack ?? "").split("\n").slice(1);
    Error.stackTraceLimit = limit;
    const outside = frames.filter((frame) => !frame.includes("/io-guard/"));
    // Node's own code reads the environment in many places of its own accord.
    if (what.startsWith("process.env") && /\bnode:internal\//.test(outside[0] ?? "")) return undefined;
    // Between the caller and this call there may be others of Node's functions: readFileSync calls openSync.
    const caller = outside.find((frame) => !/\bnode:/.test(frame) || OWN.test(frame));
    if (caller !== undefined && OWN.test(caller)) return undefined;
    const at = caller ?? outside[0] ?? "unknown";
    violations.push({ what, at: at.trim().replace(/^at /, "") });
    return new Error(`${what} is not allowed during construction`);
  };

  const guarded = <T extends (...args: never[]) => unknown>(what: string, original: T): T =>
    new Proxy(original, {
      apply(target, self, args) {
        const error = armed ? blame(what) : undefined;
        if (error !== undefined) throw error;
        return Reflect.apply(target, self, args) as unknown;
      },
      construct(target, args, newTarget) {
        const error = armed ? blame(`new ${what}`) : undefined;
        if (error !== undefined) throw error;
        return Reflect.construct(target, args, newTarget) as object;
      },
    });

  const patch = (owner: string, object: Record<string, unknown>, names: readonly string[]) => {
    for (const name of names) {
      const what = `${owner}.${name}`;
      const property = Object.getOwnPropertyDescriptor(object, name);
      const value: unknown = property !== undefined && "value" in property ? property.value : undefined;
      if (typeof value !== "function" || PURE.has(what)) continue;
      Object.defineProperty(object, name, { ...property, value: guarded(what, value as () => unknown) });
    }
  };

  for (const name of MODULES) {
    const module = require(`node:${name}`) as Record<string, unknown>;
    patch(name, module, Object.keys(module));
  }
  for (const [owner, names] of SINGLE) patch(owner, ownerOf(owner, require), names);
  for (const name of GLOBALS) patch("globalThis", globalThis as unknown as Record<string, unknown>, [name]);
  patch("AbortSignal", AbortSignal as unknown as Record<string, unknown>, ["timeout"]);

  guardEnvironment((what) => (armed ? blame(what) : undefined));
  for (const stream of ["stdout", "stderr"] as const) {
    process[stream].write = guarded(`process.${stream}.write`, process[stream].write);
  }
  syncBuiltinESMExports();

  return {
    violations,
    nextTurn: () => new Promise((resolve) => later(resolve)),
    violation: (what) => blame(what) ?? new Error(what),
    arm: () => {
      armed = true;
    },
    disarm: () => {
      armed = false;
    },
  };
}

function ownerOf(owner: string, require: NodeJS.Require): Record<string, unknown> {
  if (owner === "os") return require("node:os") as Record<string, unknown>;
  return (globalThis as unknown as Record<string, Record<string, unknown>>)[owner] ?? {};
}

function guardEnvironment(blame: (what: string) => Error | undefined): void {
  const check = (name: string | symbol) => {
    const error = blame(`process.env${typeof name === "string" ? `.${name}` : ""}`);
    if (error !== undefined) throw error;
  };
  process.env = new Proxy(process.env, {
    get: (env, name) => (check(name), Reflect.get(env, name) as string | undefined),
    has: (env, name) => (check(name), Reflect.has(env, name)),
    ownKeys: (env) => (check("*"), Reflect.ownKeys(env)),
    getOwnPropertyDescriptor: (env, name) => (check(name), Reflect.getOwnPropertyDescriptor(env, name)),
    set: (env, name, value) => (check(name), Reflect.set(env, name, value)),
    deleteProperty: (env, name) => (check(name), Reflect.deleteProperty(env, name)),
  });
}

Object.defineProperty(globalThis, GUARD, { value: installGuard() });
