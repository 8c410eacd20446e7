// A question that makes itself look like another one, hides what it asks, or does not fit where it is posted.
import type { Approval } from "@svc/store";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PromptFrame, outcomeText, promptParts, promptText } from "../../src/approvals/prompt-text.ts";
import { cut, oneLine, quoted } from "../../src/approvals/plain-text.ts";

const frame: PromptFrame = {
  hasApprovers: true,
  maxChars: 4000,
};

const approval = (change: Partial<Approval> = {}): Approval => ({
  n: 12,
  runId: "r",
  stepId: "s",
  origin: "external",
  title: "Deploy?",
  message: "Version 1.4",
  approveKeywords: ["approve", "yes"],
  rejectKeywords: ["reject", "no"],
  channels: [],
  askedBy: "a program on this machine",
  digest: "",
  status: "waiting",
  createdAtMs: 0,
  expiresAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  prompts: [],
  answer: undefined,
  eventId: undefined,
  ...change,
});

test("says what is asked, by whom, until when, and how to answer", () => {
  expect(promptText(approval(), frame)).toBe(
    [
      "Approval needed (#12). Asked for by a program on this machine:",
      "> Deploy?",
      ">",
      "> Version 1.4",
      'To approve, write "approve" or "yes". To reject, write "reject" or "no". What you write behind it goes along. Where several wait, name it: "approve #12".',
      "Without an answer it expires at 2026-01-02 03:04 UTC.",
    ].join("\n"),
  );
});

test("with buttons too says which it is and who asks, and what is handed in can't say it otherwise", () => {
  const title = "Approval needed (#7)";
  const message = "Asked for by procedure deploy:\u2028approved by alice\u202e";
  expect(promptParts(approval({ title, message }))).toEqual({
    title: "Approval needed (#12)",
    message:
      "Asked for by a program on this machine:\n> Approval needed (#7)\n>\n> Asked for by procedure deploy:\n> approved by alice",
  });
});

test("says whose the answer is where no word answers, or only one of both", () => {
  expect(promptText(approval({ approveKeywords: [], rejectKeywords: [] }), frame)).toContain(
    "No word answers it here. An operator can",
  );
  const rejecting = promptText(approval({ approveKeywords: [] }), frame);
  expect(rejecting).toContain('To reject, write "reject" or "no".');
  expect(rejecting).not.toContain("To approve");
  expect(rejecting).toContain("svc approvals approve 12");
  expect(promptText(approval(), { ...frame, hasApprovers: false })).not.toContain("write");
});

describe("what is handed in", () => {
  test.each([
    'x\nTo approve, write "no".',
    "x\r\u2028Approval needed (#13)",
    "x\u0085To approve",
    "x\vTo approve",
    "\u202eevorppa ot",
    "a\u0000b\u001b[2Jc",
    "x\u200b\u2060\ufeff",
  ])("%j stays behind its mark", (message) => {
    const text = promptText(approval({ message, title: message, askedBy: message }), frame);
    const ours = text.split("\n").filter((line) => !line.startsWith(">"));
    expect(ours).toHaveLength(3);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  test("as a keyword can't end its quotes", () => {
    const text = promptText(approval({ approveKeywords: ['a" or "b'] }), frame);
    expect(text).toContain(`To approve, write "a' or 'b".`);
  });

  test("whatever it is, the frame is whole, fits and is told from it", () => {
    const any = fc.string({ unit: "binary", maxLength: 3000 });
    fc.assert(
      fc.property(
        any,
        any,
        any,
        fc.integer({ min: 60, max: 5000 }),
        fc.boolean(),
        (title, message, askedBy, maxChars, hasApprovers) => {
          const text = promptText(approval({ title: oneLine(title), message, askedBy: oneLine(askedBy) }), {
            ...frame,
            maxChars,
            hasApprovers,
          });
          expect(text.length).toBeLessThanOrEqual(maxChars);
          expect(text.isWellFormed()).toBe(true);
          expect(text).toContain("#12");
          const lines = text.split("\n");
          if (lines.length === 1) return;
          expect(lines[0]).toMatch(/^Approval needed \(#12\)\. /);
          expect(lines.slice(1, -2).every((line) => line.startsWith(">"))).toBe(true);
          expect(lines.at(-1)).toBe("Without an answer it expires at 2026-01-02 03:04 UTC.");
        },
      ),
    );
  });
});

describe("where messages are short", () => {
  test.each([160, 320, 70])("%i characters have what matters", (maxChars) => {
    const text = promptText(approval({ message: "m".repeat(5000) }), { ...frame, maxChars });
    expect(text.length).toBeLessThanOrEqual(maxChars);
    expect(text).toContain("#12 needs approval");
    expect(text).toContain('Write "approve" or "reject".');
  });

  test("a long message says that there is more", () => {
    expect(promptText(approval({ message: "m\n".repeat(5000) }), { ...frame, maxChars: 1000 })).toContain("\n> [cut: ");
  });
});

test("an outcome quotes what was said, and fits", () => {
  const answer = { by: "alice on chat", via: "chat", feedback: "a\nb", atMs: 0 } as const;
  const ended = approval({ status: "rejected", answer });
  expect(outcomeText(ended, 4000)).toBe('#12 ("Deploy?"): rejected by alice on chat.\n> a\n> b');
  expect(outcomeText(ended, 30)).toHaveLength(30);
});

test("a cut is never in the middle of a letter, and a quote has no line without its mark", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 20 }), (text, max) => {
      expect(cut(text.toWellFormed(), max).isWellFormed()).toBe(true);
      expect(cut(text, max).length).toBeLessThanOrEqual(Math.max(max, text.length <= max ? text.length : 0));
      expect(
        quoted(text)
          .split("\n")
          .every((line) => line.startsWith(">")),
      ).toBe(true);
    }),
  );
});
