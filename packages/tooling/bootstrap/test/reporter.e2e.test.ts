// The numbers of `npm test` are only worth something if nothing can vanish from them: each way in which a test can fail
// to run is tried on the real runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bin, root } from "../checkout.mjs";
import { readReport } from "../tally.mjs";
import { reportVariable, type Report } from "../vitest-reporter.mjs";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-reporter-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs one test file under the real vitest with our reporter. */
function report(name: string, source: string): Report {
  const at = mkdtempSync(join(folder, "run-"));
  const file = join(at, "report.json");
  writeFileSync(join(at, `${name}.test.js`), source);
  const reporter = join(root, "packages/tooling/bootstrap/vitest-reporter.mjs");
  const args = ["run", "--root", at, "--globals", "--pool=forks", `--reporter=${reporter}`];
  const { status } = spawnSync(bin("vitest"), args, { cwd: at, env: { ...process.env, [reportVariable]: file } });
  let json: string | undefined;
  try {
    json = readFileSync(file, "utf8");
  } catch {
    json = undefined;
  }
  return readReport(json, status ?? 1);
}

describe("counting", () => {
  test("passed, failed, and skipped with the reason from either place", () => {
    const result = report(
      "plain",
      `test("good", () => {});
       test("bad", () => { throw new Error("broken on purpose"); });
       test("noted", (ctx) => ctx.skip("no such device"));
       test.skipIf(true)("by meta", { meta: { skipReason: "not on this system" } }, () => {});`,
    );
    expect(result.passed).toBe(1);
    expect(result.failed).toEqual([{ name: "plain.test.js > bad", why: "broken on purpose" }]);
    expect(result.skipped.map((skip) => skip.reason)).toEqual(["no such device", "not on this system"]);
  });

  test("a failure says what was found, and what caused it", () => {
    const { failed } = report(
      "said",
      `test("lists", () => { expect(["a found line", 2, 3, 4, 5, 6, 7, 8, 9]).toEqual([]); });
       test("cause", () => { throw new Error("outer", { cause: new Error("inner") }); });
       test("long", () => { throw new Error("x".repeat(100_000)); });`,
    );
    expect(failed.map(({ why }) => why)).toEqual([
      expect.stringMatching(/^expected .*\n[^]*\+ {3}"a found line",/u),
      "outer\ninner",
      expect.stringMatching(/^x{4000} …$/u),
    ]);
  });

  test.each([
    ["a skip without a reason", 'test.skip("lazy", () => {});', /without a reason/u],
    ["a promise to test later", 'test.todo("later");', /without a reason/u],
    ["a file that cannot be loaded", 'import "./not-there.js"; test("x", () => {});', /not-there/u],
    ["a file without a test", "export {};", /./u],
    [
      "a suite whose set-up fails",
      'describe("s", () => { beforeAll(() => { throw new Error("no set-up"); }); test("x", () => {}); });',
      /no set-up/u,
    ],
    [
      "a clean-up that fails",
      'describe("s", () => { afterAll(() => { throw new Error("left over"); }); test("x", () => {}); });',
      /left over/u,
    ],
    [
      "an error that nobody catches",
      'test("x", async () => { Promise.reject(new Error("nobody caught me")); await new Promise((r) => setImmediate(r)); });',
      /nobody caught me/u,
    ],
    [
      "a runner that is killed",
      `import { existsSync } from "node:fs";
       test("x", async () => {
         while (!existsSync(process.env.${reportVariable})) await new Promise((r) => setTimeout(r, 5));
         process.kill(process.ppid, "SIGKILL");
       });`,
      /did not end/u,
    ],
    ["a process that dies in the middle", 'test("x", () => { process.kill(process.pid, "SIGKILL"); });', /./u],
  ])("%s is a failure", (_name, source, why) => {
    const result = report("odd", source);
    expect(result.failed.length).toBeGreaterThan(0);
    expect(result.failed.map((failure) => failure.why).join("\n")).toMatch(why);
  });
});
