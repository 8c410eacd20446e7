// The user for root's commands exists where the user namespace maps its id, and in systems without namespaces.
import { expect, test } from "vitest";
import { hasSandboxUser } from "../src/process/index.ts";

const WHOLE = "         0          0 4294967295\n";
const maps = (uids: string, gids: string) => (file: string) => (file.endsWith("uid_map") ? uids : gids);

test.each([
  [WHOLE, WHOLE, true],
  ["0 1000 1\n", WHOLE, false],
  [WHOLE, "0 1000 1\n", false],
  ["0 100000 65536\n", "0 100000 65536\n", false],
  ["0 1000 1\n1 100000 242616\n", WHOLE, false],
  ["0 1000 1\n1 100000 242617\n", WHOLE, true],
  ["", "", false],
])("%j and %j: %s", (uids, gids, isThere) => {
  expect(hasSandboxUser(maps(uids, gids))).toBe(isThere);
});

test("a system without maps has it", () => {
  expect(
    hasSandboxUser(() => {
      throw new Error("ENOENT");
    }),
  ).toBe(true);
});
