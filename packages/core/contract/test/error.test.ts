// Error codes that scripts and clients rely on: a status that is none, an exit code that no shell knows, a sentence cut short.
import { describe, expect, test } from "vitest";
import { type ErrorCode, type ErrorEntry, ERRORS, EXIT, SvcError } from "../src/index.ts";

const entries = Object.entries(ERRORS) as [ErrorCode, ErrorEntry][];

describe.each(entries)("%s", (code, { status, exit, sentence }) => {
  test("is a constant's name, with an HTTP error status and an exit code of sysexits.h that says failure", () => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(status).toSatisfy((value) => Number.isInteger(value) && value >= 400 && value <= 599);
    expect(Object.values(EXIT).filter((value) => value !== EXIT.ok)).toContain(exit);
  });

  test("explains itself in a sentence on one line", () => {
    expect(sentence).toMatch(/^[A-Z][^\n]*[^ .]\.$/);
    expect(sentence).not.toMatch(/\$\{|%[sdj]|undefined/);
  });

  test("is what an error of it says and does", () => {
    const error = new SvcError(code);
    expect(error).toMatchObject({ code, status, exitCode: exit, message: sentence, name: "SvcError" });
    expect(error).toBeInstanceOf(Error);
  });
});

describe("the table", () => {
  test("no two codes share a sentence: one of them would be superfluous", () => {
    const sentences = entries.map(([, { sentence }]) => sentence);
    expect(sentences).toEqual([...new Set(sentences)]);
  });

  test("what the caller did wrong (4xx) is never told as a defect of ours (EX_SOFTWARE, EX_OSERR)", () => {
    const wrong = entries.filter(
      ([, { status, exit }]) => status < 500 && (exit === EXIT.software || exit === EXIT.os),
    );
    expect(wrong).toEqual([]);
  });

  test("what time fixes (429, 503) is told as such: try again, or another service is missing", () => {
    const wrong = entries.filter(
      ([, { status, exit }]) =>
        (status === 429 && exit !== EXIT.tempFail) ||
        (status === 503 && exit !== EXIT.tempFail && exit !== EXIT.unavailable && exit !== EXIT.io),
    );
    expect(wrong).toEqual([]);
  });

  test("the exit codes are those of sysexits.h", () => {
    expect(EXIT).toEqual({
      ok: 0,
      failure: 1,
      usage: 64,
      data: 65,
      noInput: 66,
      unavailable: 69,
      software: 70,
      os: 71,
      cantCreate: 73,
      io: 74,
      tempFail: 75,
      noPermission: 77,
      config: 78,
    });
  });
});

describe("an error", () => {
  test("keeps its own message, hint, cause and waiting time", () => {
    const cause = new Error("below");
    const error = new SvcError("BUSY", "Full.", { hint: "Wait.", cause, retryAfterMs: 1500 });
    expect(error).toMatchObject({ code: "BUSY", message: "Full.", hint: "Wait.", retryAfterMs: 1500 });
    expect(error.cause).toBe(cause);
  });

  test("has no cause when none was given, so that nobody prints «caused by undefined»", () => {
    expect("cause" in new SvcError("BUSY")).toBe(false);
    expect("cause" in new SvcError("BUSY", undefined, { cause: undefined })).toBe(false);
    expect(new SvcError("BUSY", undefined, { cause: null }).cause).toBeNull();
  });
});
