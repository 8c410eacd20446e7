// The error table and the code that throws are two places that drift apart unless something compares them.
import { describe, expect, test } from "vitest";
import { errorCodes } from "../src/checks/error-codes.ts";
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
