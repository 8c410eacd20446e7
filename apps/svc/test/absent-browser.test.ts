// A browser backend that is not in the build, and a sandbox that the config switches off: each place that shows it says the same,
// with the one change that helps.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { describe, expect, test } from "vitest";
import { homeWith, startPaired } from "./daemon.ts";
import { doctor, of } from "./doctor-report.ts";

const NATIVE = '[browser]\nenabled = true\nbackend = "native"\n';

test("a browser backend that is not in this build is unavailable, and the command that builds it in is everywhere", async () => {
  using home = homeWith(NATIVE);
  const command = "pnpm build minimal --with browser-native";
  const warning = expect.stringMatching(`browser.backend: .*browser-native.*${command}`);
  const svc = (...words: string[]) => runBinary(words, { home: home.path });
  const json = async (...words: string[]) => JSON.parse((await svc(...words, "--json")).stdout) as unknown;

  expect(await json("config", "check")).toMatchObject({ ok: true, warnings: [warning] });
  const tool = await svc("tools", "run", "browser", "--input", '{"action":"open","url":"http://example.com"}');
  expect(tool.code).not.toBe(0);
  expect(tool.stdout).toContain("This tool belongs to the feature browser-native, which is not in this build.");
  expect(tool.stdout).toContain(command);

  const { daemon } = await startPaired({ home: home.path });
  await using _ = daemon;
  expect(daemon.output()).toContain(command);
  expect(await json("status")).toMatchObject({ warnings: [warning] });
  expect(of(await doctor(home.path), "browser")).toMatchObject([{ level: "warning", fix: `npx ${command}` }]);
});

describe("without a sandbox, doctor, status, the API and the start name the same keys", () => {
  test.each([
    ["enabled = false", "set security.sandbox.enabled = true"],
    ['backend = "none"', 'set security.sandbox.backend = "auto"'],
    ['enabled = false\nbackend = "none"', 'set security.sandbox.enabled = true and security.sandbox.backend = "auto"'],
    ['required = true\nbackend = "none"', 'set security.sandbox.backend = "auto"'],
  ])("%j", async (keys, fix) => {
    using home = homeWith(`[security.sandbox]\n${keys}\n`);
    const alone = of(await doctor(home.path), "sandbox");
    expect(alone).toMatchObject([{ fix }]);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    expect(daemon.output()).toContain(fix);
    const shown = async (path: string) =>
      ((await (await daemon.request(path, { token })).json()) as { sandbox: { fix: string } }).sandbox.fix;
    expect([await shown("/api/status"), await shown("/api/features")]).toEqual([fix, fix]);
    expect((await runBinary(["status"], { home: home.path })).stdout).toContain(fix);
    expect(of(await doctor(home.path), "sandbox")).toEqual(alone);
  });
});
