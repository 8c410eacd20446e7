// The command line and what a build prints: wrong flags exit 64 before anything runs, and a log file gets plain lines.
import { describe, expect, test } from "vitest";
import { parseBuildArgs } from "../src/args.ts";
import { checkBudget } from "../src/budget.ts";
import { lines } from "../src/reporter.ts";

describe("parseBuildArgs", () => {
  const parse = (...argv: string[]) => parseBuildArgs(argv, "/here");

  test("bare is minimal; lists may be repeated and joined by commas", () => {
    expect(parse()).toMatchObject({ request: { profile: "minimal", with: [], without: [], cwd: "/here" }, rest: [] });
    expect(parse("full", "--with", "a, b", "--with=c,", "--without", "d").request).toMatchObject({
      profile: "full",
      with: ["a", "b", "c"],
      without: ["d"],
    });
    expect(parse("--target", "linux-arm64").request.target).toMatchObject({ cpu: "arm64" });
    expect(parse("full", "--", "chat", "--json")).toMatchObject({ json: false, rest: ["chat", "--json"] });
  });

  test.each([
    [["--wiht", "a"]],
    [["--with"]],
    [["minimal", "full"]],
    [["--all", "full"]],
    [["--all", "--with", "a"]],
    [["--target", "linux-mips"]],
    [["--force=yes"]],
  ])("%j exits 64", (argv) => {
    expect(() => parse(...argv)).toThrow(expect.objectContaining({ code: "USAGE", exitCode: 64 }) as Error);
  });
});

describe("lines", () => {
  const record = async (isTTY: boolean): Promise<string> => {
    let text = "";
    let nowMs = 0;
    const reporter = lines({ isTTY, write: (part) => (text += part) }, () => (nowMs += 750));
    await reporter.step("bundle", async () => reporter.note("a note"));
    await reporter.step("prove", () => Promise.reject(new Error("no"))).catch(() => {});
    return text;
  };

  test("plain lines where nobody watches", async () => {
    expect(await record(false)).toBe("a note\nbundle: 0.8 s\nprove: failed\n");
  });

  test("a line that fills in on a terminal", async () => {
    expect(await record(true)).toBe(
      "  bundle …\r\u001B[K  a note\n\r\u001B[K  bundle 0.8 s\n  prove …\r\u001B[K  prove failed\n",
    );
  });
});

describe("checkBudget", () => {
  const used = { binary_mb: 120.04, js_kb: 900, entry_kb: 3, page_kb: 20, page_first_kb: 10 };

  test("what fits is recorded, what has no limit is not", () => {
    expect(checkBudget("minimal", { binary_mb: 121 }, used)).toEqual({ binary_mb: { limit: 121, used: 120 } });
  });

  test("every limit that is passed is named", () => {
    expect(() => checkBudget("minimal", { binary_mb: 100, js_kb: 800, entry_kb: 3 }, used)).toThrow(
      "minimal is too large.\n  binary_mb: 120, the budget is 100\n  js_kb: 900, the budget is 800",
    );
    expect(() => checkBudget("minimal", { page_kb: 20, page_first_kb: 9 }, used)).toThrow("page_first_kb: 10");
  });
});
