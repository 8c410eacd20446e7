// A service belongs to whoever runs the machine: what svc did not write it must not touch, and nothing may start twice.
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { runBinary, type RunResult } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { beforeEach, describe, expect, test } from "vitest";
import { launchd, stateIn as launchdState } from "../src/system-service/launchd.ts";
import { managerOf } from "../src/system-service/manager.ts";
import { stateIn } from "../src/system-service/systemd.ts";

test("what managers answer is read; no answer is no state", () => {
  expect(stateIn("MainPID=7\nActiveState=active\nSubState=running\nUnitFileState=enabled\n")).toEqual({
    state: "active (running)",
    enabled: true,
    running: true,
    pid: 7,
  });
  expect(stateIn("ActiveState=failed\nSubState=failed\nMainPID=0")).toMatchObject({ running: false, pid: undefined });
  expect(stateIn("System has not been booted with systemd")).toMatchObject({ state: undefined, running: false });
  expect(launchdState({ ok: true, output: "x = {\n\tstate = running\n\tpid = 42\n" })).toMatchObject({
    running: true,
    pid: 42,
  });
  expect(launchdState({ ok: false, output: "" })).toMatchObject({ state: undefined, running: false });
});

test("a system without a known manager is told so", async () => {
  await expect(managerOf({ env: {}, system: false }, "freebsd")).rejects.toMatchObject({ code: "SERVICE_UNSUPPORTED" });
  expect(() => launchd({ env: {}, system: true })).toThrow("of a user only");
  await expect(managerOf({ env: {}, system: true }, "win32")).rejects.toMatchObject({ code: "SERVICE_UNSUPPORTED" });
});

describe("svc service", () => {
  beforeEach((context) => context.skip(process.platform !== "linux", "systemd is for Linux"));

  /** A home, and a systemctl that notes what it is told. */
  class Fixture implements Disposable {
    readonly home: TemporaryHome;
    readonly unit: string;
    readonly #folder = mkdtempSync(join(tmpdir(), "svc-service-"));

    constructor(home = temporaryHome()) {
      this.home = home;
      this.unit = join(this.#folder, ".config/systemd/user/svc.service");
      const script = `#!/bin/sh
echo "$*" >> "${this.#folder}/told"
[ -e "${this.#folder}/deaf" ] && { echo "Failed to connect to bus" >&2; exit 1; }
case "$*" in *"show svc.service"*) cat "${this.#folder}/state" 2>/dev/null || echo ActiveState=inactive;; esac
`;
      writeFileSync(join(this.#folder, "systemctl"), script);
      chmodSync(join(this.#folder, "systemctl"), 0o755);
    }

    run(...words: string[]): Promise<RunResult> {
      const env = { HOME: this.#folder, PATH: `${this.#folder}${delimiter}/usr/bin${delimiter}/bin` };
      return runBinary(["service", ...words], { home: this.home.path, env });
    }

    /** What it was told since the last look, without the questions. */
    told(): string[] {
      const file = join(this.#folder, "told");
      const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
      rmSync(file, { force: true });
      return lines.filter((line) => !line.includes("show"));
    }

    become(state: string): void {
      writeFileSync(join(this.#folder, "state"), state);
    }

    deaf(): void {
      writeFileSync(join(this.#folder, "deaf"), "");
    }

    [Symbol.dispose](): void {
      rmSync(this.#folder, { recursive: true, force: true });
      this.home.remove();
    }
  }

  test("install writes the unit and starts it, a second one changes nothing, uninstall takes it all away", async () => {
    using fixture = new Fixture();
    expect((await fixture.run("install")).code).toBe(0);
    expect(fixture.told()).toEqual(["--user daemon-reload", "--user enable --now svc.service"]);
    expect(readFileSync(fixture.unit, "utf8")).toContain(`Environment="SVC_HOME=${fixture.home.path}"`);
    expect(statSync(fixture.unit).mode & 0o777).toBe(0o644);
    fixture.become("ActiveState=active\nSubState=running\nUnitFileState=enabled\nMainPID=1\n");
    const again = await fixture.run("install", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ changed: false, done: true, commands: [] });
    expect(await fixture.run("status")).toMatchObject({ code: 0, stdout: expect.stringContaining("as svc wrote it") });
    fixture.told();
    expect((await fixture.run("uninstall")).code).toBe(0);
    expect(fixture.told()).toEqual(["--user disable --now svc.service", "--user daemon-reload"]);
    expect(existsSync(fixture.unit)).toBe(false);
    expect((await fixture.run("uninstall")).stdout).toContain("there is no");
    fixture.become("ActiveState=inactive\n");
    expect(await fixture.run("status")).toMatchObject({
      code: 69,
      stdout: expect.stringContaining("no service is installed"),
    });
  });

  test("where no manager answers the file is written and the commands are told", async () => {
    using fixture = new Fixture();
    fixture.deaf();
    const told = await fixture.run("install");
    expect(told).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("systemctl --user enable --now svc.service"),
    });
    expect(existsSync(fixture.unit)).toBe(true);
    expect(JSON.parse((await fixture.run("status", "--json")).stdout)).toMatchObject({
      state: null,
      installed: "ours",
    });
    expect((await fixture.run("uninstall")).stdout).toContain("systemctl --user disable --now svc.service");
    expect(existsSync(fixture.unit)).toBe(false);
  });

  test("a unit that somebody changed or wrote is not touched without --force; a foreign one is never removed", async () => {
    using fixture = new Fixture();
    await fixture.run("install");
    appendFileSync(fixture.unit, "# mine\n");
    for (const action of ["install", "uninstall"]) {
      expect(await fixture.run(action)).toMatchObject({ code: 73, stderr: expect.stringContaining("SERVICE_EDITED") });
    }
    expect(readFileSync(fixture.unit, "utf8")).toContain("# mine");
    expect((await fixture.run("install", "--force")).code).toBe(0);
    expect(readFileSync(fixture.unit, "utf8")).not.toContain("# mine");
    writeFileSync(fixture.unit, "[Service]\nExecStart=/bin/true\n");
    expect((await fixture.run("uninstall", "--force")).code).toBe(73);
    expect((await fixture.run("install")).code).toBe(73);
    rmSync(fixture.unit);
    symlinkSync("/dev/null", fixture.unit);
    expect((await fixture.run("install")).code).toBe(73);
  });

  test("the service of another home is not replaced in passing", async () => {
    using fixture = new Fixture();
    await fixture.run("install");
    using other = temporaryHome();
    const first = fixture.home;
    Object.assign(fixture, { home: other });
    expect(await fixture.run("install")).toMatchObject({ code: 73, stderr: expect.stringContaining("another home") });
    expect((await fixture.run("install", "--force")).code).toBe(0);
    Object.assign(fixture, { home: first });
  });

  test("--print shows the file and changes nothing", async () => {
    using fixture = new Fixture();
    const printed = await fixture.run("install", "--print");
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining("[Service]") });
    expect([existsSync(fixture.unit), fixture.told()]).toEqual([false, []]);
  });

  test("with a daemon on the home already, it is enabled and not started", async () => {
    await using daemon = await startBinary();
    using fixture = new Fixture({ ...temporaryHome(), path: daemon.home, remove: () => {} });
    const done = JSON.parse((await fixture.run("install", "--json")).stdout) as { done: boolean; notes: string[] };
    expect(done).toMatchObject({ done: false, notes: expect.arrayContaining([expect.stringContaining("already")]) });
    expect(fixture.told()).toEqual(["--user daemon-reload", "--user enable svc.service"]);
  });

  test("--system needs a user that is there and owns the home", async (context) => {
    context.skip(process.getuid?.() !== 0, "only root may install for the whole machine");
    using fixture = new Fixture();
    expect((await fixture.run("install", "--system", "--print")).stderr).toContain("--user-name");
    expect((await fixture.run("install", "--system", "--print", "--user-name", "no such")).code).toBe(64);
    const foreign = await fixture.run("install", "--system", "--print", "--user-name", "nobody");
    expect(foreign).toMatchObject({ code: 64, stderr: expect.stringContaining("does not belong") });
    expect((await fixture.run("install", "--user-name", "nobody")).code).toBe(64);
  });

  test("an invalid config is told before anything is written", async () => {
    using fixture = new Fixture();
    writeFileSync(join(fixture.home.path, "config.toml"), "[gateway]\nprot = 1\n");
    expect((await fixture.run("install")).code).toBe(78);
    expect(existsSync(fixture.unit)).toBe(false);
  });
});
