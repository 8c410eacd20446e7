/** The libraries write whole requests and answers to their log, tokens and messages among them: none of it is wanted. */
import type { Logger } from "@slack/web-api";

const nothing = (): void => undefined;

export const quietLog = (): Logger => ({
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  // Of an enum that only a module to load would have.
  getLevel: () => "error" as ReturnType<Logger["getLevel"]>,
});
