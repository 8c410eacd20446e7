// An answer never grows beyond what a turn shows of it, and always gets on.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PageBudget } from "../src/pdf.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 800 }),
  fc.string({ unit: fc.constantFrom("\n", '"', "a", "😀"), maxLength: 800 }),
);

test("pages in answers of any size are the same pages, none torn within a character", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), fc.integer({ min: 200, max: 900 }), (texts, maxChars) => {
      const pages = texts.map((page) => page.toWellFormed());
      const read = pages.map(() => "");
      let next: PageBudget["next"] = { page: 1, offset: 0 };
      for (let answers = 0; next !== undefined; answers += 1) {
        expect(answers).toBeLessThan(5000);
        const budget: PageBudget = new PageBudget(maxChars, next.offset);
        const { page: from } = next;
        pages.every((page, at) => at + 1 < from || budget.take({ page: at + 1, text: page, isDamaged: false }));
        expect(JSON.stringify(budget.taken).length).toBeLessThanOrEqual(maxChars + 20);
        for (const taken of budget.taken) {
          expect(taken.text.isWellFormed()).toBe(true);
          read[taken.page - 1] += taken.text;
        }
        next = budget.next;
      }
      expect(read).toEqual(pages);
    }),
    { numRuns: cases(300) },
  );
});
