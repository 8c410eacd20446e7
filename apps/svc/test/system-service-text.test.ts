// A service file is written once and runs for years: it must say what was meant, whatever the paths.
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cases } from "@svc/cases";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import * as fc from "fast-check";
import { describe, expect, test, type TestContext } from "vitest";
import { originOf, sealed, type ServicePlan } from "../src/system-service/plan.ts";
import { plistText } from "../src/system-service/launchd.ts";
import { stateIn, taskText } from "../src/system-service/task-scheduler.ts";
import { unitText } from "../src/system-service/systemd.ts";

/** Not the one that runs this test: the checkout may lie in a temporary folder. */
const PROGRAM = "/bin/sh";

const PLAN: ServicePlan = {
  binary: PROGRAM,
  home: "/srv/svc",
  workspaces: [],
  stopSecs: 60,
  system: undefined,
  devices: false,
};
/** Reads unit files offline: it starts nothing and needs no manager. */
const ANALYZE = "systemd-analyze";
const SYSTEM = { user: "svc", userHome: "/home/svc" };

const has = (program: string, ...words: string[]): boolean => spawnSync(program, words).error === undefined;

function needsSystemd(context: TestContext): void {
  if (has(ANALYZE, "--version")) return;
  requireReal(context, { name: "systemd", reason: "systemd-analyze is not on PATH; apt-get install systemd" });
}

/** Absolute paths with everything that a unit or a property list could trip over. */
const awkward = fc
  .array(
    fc.constantFrom(
      "a",
      " ",
      "%",
      "%h",
      "$",
      "${HOME}",
      '"',
      "'",
      "\\",
      "\\n",
      ";",
      "#",
      "=",
      ":",
      "-",
      "&",
      "<",
      "ü",
      "😀",
    ),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(""))
  .filter((name) => name !== "." && name !== ".." && Buffer.byteLength(name) < 200);

describe("the systemd unit", () => {
  test("systemd finds the program it names, whatever its path; what can't be said is refused", (context) => {
    needsSystemd(context);
    using folder = temporaryHome();
    const units: string[] = [];
    fc.assert(
      fc.property(
        awkward.filter((name) => !/["'\\$]/.test(name)),
        awkward,
        fc.boolean(),
        (name, other, user) => {
          const binary = join(folder.path, name);
          writeFileSync(binary, "", { mode: 0o755 });
          const unit = join(folder.path, `u${units.length}.service`);
          const home = `/srv/${other}`;
          // A unit of the machine names its folders too, and takes no program in a temporary folder.
          const plan = user ? { ...PLAN, binary } : { ...PLAN, system: SYSTEM };
          writeFileSync(unit, unitText({ ...plan, home, workspaces: [`${home} too`] }));
          units.push(unit);
        },
      ),
      { numRuns: cases(80) },
    );
    for (const binary of ["/a$b", "/a'b", '/a"b', String.raw`/a\b`]) {
      expect(() => unitText({ ...PLAN, binary })).toThrow("no service can use it");
    }
    const checked = spawnSync(ANALYZE, ["verify", "--man=no", ...units], { encoding: "utf8" });
    expect(units.length).toBeGreaterThan(cases(80) / 4);
    expect([checked.status, checked.stderr]).toEqual([0, ""]);
    // That it looks at all:
    const lost = join(folder.path, "lost.service");
    writeFileSync(lost, unitText({ ...PLAN, binary: join(folder.path, "not there") }));
    expect(spawnSync(ANALYZE, ["verify", "--man=no", lost], { encoding: "utf8" }).stderr).toContain("not there");
  });

  test("no path ends a line or begins another setting", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("binary", "home", "workspace"), (text, where) => {
        const path = `/${text}`;
        const plan = {
          ...PLAN,
          ...(where === "binary" && { binary: path }),
          ...(where === "home" && { home: path }),
          ...(where === "workspace" && { workspaces: [path] }),
        };
        expect([unitText({ ...PLAN, system: SYSTEM }).split("\n").length, "USAGE"]).toContain(linesOf(plan));
      }),
    );
    for (const home of ["relative", "/a\nExecStartPre=/bin/sh", "/a\r", "/a\0b", "/a\u2028b"]) {
      expect(() => unitText({ ...PLAN, home })).toThrow("no service can use it");
    }
  });

  /** How many lines its unit has, or why there is none. */
  function linesOf(plan: ServicePlan): number | string {
    try {
      return unitText({ ...plan, system: SYSTEM }).split("\n").length;
    } catch (error) {
      return (error as { code?: string }).code ?? "unexpected";
    }
  }

  test("is sound and closed: for the machine", (context) => {
    needsSystemd(context);
    using folder = temporaryHome();
    const unit = join(folder.path, "svc.service");
    const verify = (plan: Partial<ServicePlan>): unknown => {
      writeFileSync(unit, unitText({ ...PLAN, system: SYSTEM, ...plan }));
      const { status, stderr } = spawnSync(ANALYZE, ["verify", "--man=no", unit], { encoding: "utf8" });
      return [status, stderr];
    };
    expect(verify({ home: "/home/svc/.svc", workspaces: ["/home/svc/work"] })).toEqual([0, ""]);
    expect(verify({ devices: true })).toEqual([0, ""]);
    expect(verify({})).toEqual([0, ""]);
    expect(exposure(unit)).toBeLessThan(3.2);
  });

  test("is sound and closed: for one user, as far as a user's manager can", (context) => {
    needsSystemd(context);
    using folder = temporaryHome();
    const unit = join(folder.path, "svc.service");
    writeFileSync(unit, unitText(PLAN));
    const env = { ...process.env, XDG_RUNTIME_DIR: folder.path };
    const checked = spawnSync(ANALYZE, ["verify", "--user", "--man=no", unit], { encoding: "utf8", env });
    expect([checked.status, checked.stderr]).toEqual([0, ""]);
    expect(exposure(unit)).toBeLessThan(8);
  });

  /** From 0 to 10. */
  function exposure(unit: string): number {
    const shown = execFileSync(ANALYZE, ["security", "--no-pager", "--offline=true", unit], {
      encoding: "utf8",
    });
    return Number(/exposure level for \S+: ([\d.]+)/.exec(shown)?.[1]);
  }

  test("a home below /home is all that is seen of it, and what lies in a temporary folder is refused", () => {
    const text = unitText({ ...PLAN, system: SYSTEM, binary: "/home/svc/bin/svc", home: "/home/svc/.svc" });
    expect(text).toContain('ProtectHome=tmpfs\nBindPaths="/home/svc/.svc"\nBindReadOnlyPaths="/home/svc/bin/svc"\n');
    expect(unitText({ ...PLAN, system: SYSTEM })).toContain("ProtectHome=yes\n");
    expect(() => unitText({ ...PLAN, system: SYSTEM, home: "/var/tmp/svc" })).toThrow("temporary");
    expect(() => unitText({ ...PLAN, system: SYSTEM, home: "/home/a:b" })).toThrow("colon");
  });

  test("leaves alone what the sandbox and the compiler need", () => {
    const settings = unitText({ ...PLAN, system: SYSTEM })
      .split("\n")
      .filter((line) => !line.startsWith("#"))
      .join("\n");
    expect(settings).not.toMatch(
      /MemoryDenyWriteExecute|RestrictNamespaces|ProtectKernelTunables|ProtectKernelLogs|ProtectProc/,
    );
    expect(settings).toMatch(/^SystemCallFilter=.*@mount/m);
  });
});

describe("the property list", () => {
  test("says what was meant, whatever the paths; what XML can't hold is refused", (context) => {
    const plutil = process.platform === "darwin";
    if (!plutil && !has("python3", "--version")) {
      requireReal(context, { name: "python3", reason: "no reader of property lists here", tier: "B" });
    }
    using folder = temporaryHome();
    const expected: { binary: string; home: string }[] = [];
    fc.assert(
      fc.property(awkward, awkward, (a, b) => {
        const paths = { binary: `/${a}`, home: `/${b}` };
        writeFileSync(join(folder.path, `${expected.length}.plist`), plistText({ ...PLAN, ...paths }));
        expected.push(paths);
      }),
      { numRuns: cases(40) },
    );
    const program = plutil
      ? `import json, subprocess, sys\nload = lambda f: json.loads(subprocess.check_output(["plutil", "-convert", "json", "-o", "-", f]))`
      : `import json, plistlib, sys\nload = lambda f: plistlib.load(open(f, "rb"))`;
    const script = `${program}\nprint(json.dumps([load(f"{sys.argv[1]}/{n}.plist") for n in range(int(sys.argv[2]))]))`;
    const lists = JSON.parse(
      execFileSync("python3", ["-c", script, folder.path, String(expected.length)], { encoding: "utf8" }),
    ) as { ProgramArguments: string[]; EnvironmentVariables: { SVC_HOME: string } }[];
    expect(
      lists.map((list) => ({ binary: list.ProgramArguments[0], home: list.EnvironmentVariables.SVC_HOME })),
    ).toEqual(expected);
    for (const home of ["/a\u0001", "/a\nb", "/a\uffff", "/a\ud800"]) {
      expect(() => plistText({ ...PLAN, home })).toThrow("no service can use it");
    }
  });
});

test("a file is known as ours, changed, or somebody else's", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.nat(), fc.string({ minLength: 1 }), (body, at, more) => {
      const text = sealed("#", "", body);
      expect(originOf(text)).toBe("ours");
      const place = text.indexOf("\n") + 1 + (at % (body.length + 1));
      expect(originOf(text.slice(0, place) + more + text.slice(place))).toBe("edited");
      expect(originOf(body)).toBe("foreign");
    }),
  );
  expect(originOf(plistText(PLAN))).toBe("ours");
  expect(originOf(plistText(PLAN).replace("svc.daemon", "other"))).toBe("edited");
});

describe("the task of Windows", () => {
  const place = { user: "PC\\Ada", usualHome: String.raw`C:\Users\Ada\.svc`, windows: String.raw`C:\Windows` };
  const plan = { ...PLAN, binary: String.raw`C:\Program Files\svc & co\svc.exe`, home: place.usualHome };

  test("starts the binary itself on the usual home", () => {
    const text = taskText({ ...plan, home: String.raw`c:\users\ADA\.svc` }, place);
    expect(text).toContain(String.raw`<Command>C:\Program Files\svc &#x26; co\svc.exe</Command>`);
    expect(text).toContain("<Arguments>daemon</Arguments>");
    expect(text.match(/<UserId>PC\\Ada<\/UserId>/g)).toHaveLength(2);
    expect(originOf(text)).toBe("ours");
  });

  test("sets another home by a shell, and refuses what that shell would read", () => {
    const text = taskText({ ...plan, home: String.raw`D:\Büro & x` }, place);
    expect(text).toContain(String.raw`<Command>C:\Windows\System32\cmd.exe</Command>`);
    const words = /<Arguments>(.*)<\/Arguments>/
      .exec(text)?.[1]
      ?.replaceAll(/&#x([0-9a-f]+);/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
    expect(words).toBe(String.raw`/d /s /c "set "SVC_HOME=D:\Büro & x"&& "C:\Program Files\svc & co\svc.exe" daemon"`);
    for (const home of [String.raw`D:\%TEMP%`, 'D:\\a"&calc&"', "relative", "D:\\a\nb"]) {
      expect(() => taskText({ ...plan, home }, place)).toThrow("no service can use it");
    }
  });

  test("what the scheduler answers is read; no answer is no state", () => {
    expect(stateIn({ ok: true, output: '"\\svc","N/A","Running"\r\n' })).toMatchObject({
      running: true,
      enabled: true,
    });
    expect(stateIn({ ok: true, output: '"\\svc","N/A","Disabled"\r\n' })).toMatchObject({
      running: false,
      enabled: false,
    });
    expect(stateIn({ ok: false, output: '"\\svc","N/A","Running"' })).toMatchObject({
      state: undefined,
      running: false,
    });
  });
});
