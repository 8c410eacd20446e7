/**
 * Spans that a collector says it did not take, in an answer that says 200 (`partial_success`). The exporter tells of them to
 * the library's logger and to nobody else, with the collector's own words, which are not repeated here.
 */
import { diag, type DiagLogger, DiagLogLevel } from "@opentelemetry/api";

export interface Rejections {
  /** Since the last `forget`. */
  readonly count: number;
  forget(): void;
}

const MESSAGE = "Received Partial Success response:";

/** The logger is one for the process, and the last to listen has it: after a reload that is the collector in force. */
export function listenForRejections(): Rejections {
  let count = 0;
  const nothing = (): void => {};
  const warn: DiagLogger["warn"] = (message, told) => {
    if (message === MESSAGE) count += rejectedIn(told);
  };
  const logger: DiagLogger = { error: nothing, warn, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return {
    get count() {
      return count;
    },
    forget: () => {
      count = 0;
    },
  };
}

/** `{"rejectedSpans": 3, "errorMessage": "…"}`; an int64 is a text in JSON. */
function rejectedIn(told: unknown): number {
  try {
    const { rejectedSpans } = JSON.parse(String(told)) as { rejectedSpans?: unknown };
    const count = Number(rejectedSpans ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}
