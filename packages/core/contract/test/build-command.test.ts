// A hint of a build with a sandbox named `minimal`: whoever followed it lost the sandbox.
import { expect, test } from "vitest";
import { buildCommand } from "../src/index.ts";

const none = { with: [], without: [] };

test.each([
  [{ profile: "home", ...none }, "rag-pdf", "npx pnpm build home --with rag-pdf"],
  [{ profile: "home", with: ["a", "./mine"], without: [] }, "b", "npx pnpm build home --with a,./mine,b"],
  [{ profile: "home", with: ["a"], without: [] }, "a", "npx pnpm build home --with a"],
  [{ profile: "full", with: [], without: ["x", "y"] }, "b", "npx pnpm build full --with b --without x --without y"],
])("%o and %s: %s", (recipe, flag, command) => {
  expect(buildCommand(recipe, flag)).toBe(command);
});

test("a feature that was left out is not left out again", () => {
  expect(buildCommand({ profile: "home", with: [], without: ["x"] }, "x")).toBe("npx pnpm build home --with x");
});
