/** What tests of a log and of promises need. (`@svc/testkit` has the public ones, and depends on this package.) */
import type { LogFields, Logger } from "@svc/contract";

export function captureLogger(): Logger & { readonly lines: readonly object[] } {
  const lines: object[] = [];
  const at =
    (level: keyof Logger) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), lines };
}

/** Resolves when every promise reaction that is due has run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
