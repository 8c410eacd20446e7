// Wrong arguments end before anything is written, with the word that was probably meant.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { readRequest } from "../src/request.ts";

describe("arguments", () => {
  test.each([
    [["tool", "word-count"], { kind: "tool", name: "word-count", dryRun: false }],
    [["--dry-run", "channel", "pager2"], { kind: "channel", name: "pager2", dryRun: true }],
    [["feature", "x"], { kind: "feature", name: "x", dryRun: false }],
    [["plugin", "word-count"], { kind: "plugin", name: "word-count", dryRun: false }],
  ])("%j", (argv, expected) => {
    expect(readRequest(argv)).toEqual(expected);
  });

  test.each<[string[], string]>([
    [[], "Say what to make: feature, channel, tool, plugin."],
    [["tol", "x"], "Did you mean tool?"],
    [["gadget", "x"], "There is no such kind. Kinds: feature, channel, tool, plugin."],
    [["tool"], "Give the tool a name."],
    [["tool", "a", "b"], "join the words of a name with hyphens"],
    [["tool", "x", "--dryrun"], "Did you mean --dry-run?"],
    [["tool", "tool-x"], 'The folder gets the prefix "tool-" by itself'],
    [["feature", "channel-x"], "A name with that prefix is a channel: pnpm new channel <name>."],
    [["tool", "WordCount"], 'Did you mean "word-count"?'],
    [["tool", "word_count!"], 'Did you mean "word-count"?'],
    [["tool", "../../etc/x"], 'Did you mean "etc-x"?'],
    [["tool", "9"], "A name is lower-case words and digits joined by hyphens"],
    [["tool", "a".repeat(41)], "at most 40 characters"],
    [["feature", "planned"], "That name has another meaning in this repository"],
  ])("%j is refused", (argv, message) => {
    const error = errorOf(() => readRequest(argv));
    expect(error.message).toContain(message);
    expect(error.exitCode).toBe(64);
  });
});

function errorOf(work: () => unknown): SvcError {
  try {
    work();
  } catch (error) {
    if (error instanceof SvcError) return error;
  }
  throw new Error("it did not refuse");
}
