/** A logger that keeps its lines, for tests that look at what was said and at what must never be. */
import type { LogFields, Logger } from "@svc/contract";

export interface CapturedLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

export interface CapturedLogger extends Logger {
  readonly lines: readonly CapturedLine[];
  /** Everything that was said, as one text to search in. */
  text(): string;
}

export function captureLogger(): CapturedLogger {
  const lines: CapturedLine[] = [];
  const at =
    (level: CapturedLine["level"]): Logger["info"] =>
    (message, fields = {}) =>
      lines.push({ level, message, fields: { ...fields } });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    lines,
    text: () => lines.map((line) => JSON.stringify(line)).join("\n"),
  };
}
