// The error table, its page and the code that throws are three places that drift apart unless something compares them.
import { describe, expect, test } from "vitest";
import { errorCodes } from "../src/checks/error-codes.ts";
import { ERROR_PAGE, errorPage, renderErrorPage } from "../src/checks/error-page.ts";
import { judge } from "./judge.ts";

const TABLE = "packages/core/contract/src/error-codes.ts";

describe("error-codes", () => {
  const check = errorCodes(["BUSY", "LOST"]);
  const table = "export const ERRORS = {\n  BUSY: 1,\n  LOST: 2,\n};";

  test("a code that nothing uses fails; tests and the table itself don't count", () => {
    const files = {
      [TABLE]: table,
      "packages/core/kit/src/a.ts": 'throw new SvcError("BUSY");',
      "packages/core/kit/test/a.test.ts": 'expect(code).toBe("LOST");',
    };
    expect(judge(check, files)).toEqual([`${TABLE}:3 LOST is in the table but nothing uses it.`]);
  });

  test("a code that the table does not know fails where it is thrown", () => {
    const text = 'throw new SvcError("BUSY");\nthrow new SvcError("LOST");\nthrow new SvcError("BSUY");';
    expect(judge(check, { "apps/svc/src/a.ts": text })).toEqual([
      "apps/svc/src/a.ts:3 This SvcError has a code that the table does not know.",
    ]);
  });
});

describe("error-page", () => {
  const errors = { BUSY: { status: 503, exit: 75, sentence: "Too | busy." } };

  test("passes what the generator wrote, fails a missing or changed page", () => {
    const page = renderErrorPage(errors);
    expect(page).toContain("| `BUSY` | 503    | 75   | Too \\| busy. |");
    expect(judge(errorPage(errors), { [ERROR_PAGE]: page })).toEqual([]);
    expect(judge(errorPage(errors), {})).toEqual([`${ERROR_PAGE}:0 The page is missing.`]);
    const line = page.split("\n").findIndex((text) => text.includes("BUSY")) + 1;
    const old = page.replace("503", "500");
    expect(judge(errorPage(errors), { [ERROR_PAGE]: old })).toEqual([`${ERROR_PAGE}:${line} The page is out of date.`]);
    expect(judge(errorPage(errors), { [ERROR_PAGE]: `${page}More.\n` })).toHaveLength(1);
  });
});
