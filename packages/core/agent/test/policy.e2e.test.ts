// The command-line parser against the shells themselves: whatever the policy lets run without asking is run by every
// shell found here, with nothing on its PATH but programs that log their own name. No unlisted program may ever start,
// and nothing may be written outside the workspace.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { judgeLine } from "../src/policy/command-line.ts";

const room = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "svc-shells-")));
const [bin, workspace, log] = [join(room, "bin"), join(room, "workspace"), join(room, "log")];
afterAll(() => fs.rmSync(room, { recursive: true }));

const LISTED = ["okay", "fine", "echo", "true", "cd", ":"];
const UNLISTED = [
  "evil",
  "rm",
  "ls",
  "a",
  "b",
  "x",
  "2",
  "okay2",
  "fine=",
  "-c",
  "123456789",
  "e",
  "vil",
  "ev",
  "il",
  "ok",
  "ay",
];

fs.mkdirSync(bin);
for (const name of ["okay", "fine", ...UNLISTED]) {
  fs.writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s\\n' '${name}' >> '${log}'\n`, { mode: 0o755 });
}

const SHELLS: readonly (readonly [string, ...string[]])[] = [
  ["/bin/sh"],
  ["/bin/dash"],
  ["/bin/bash"],
  ["/bin/bash", "--posix"],
  ["/bin/busybox", "sh"],
  ["/bin/mksh"],
  ["/bin/zsh", "--emulate", "sh"],
];
const shells = SHELLS.filter(([file]) => fs.existsSync(file));

/** What the line made each shell start or complain about, beyond the listed programs. */
function escapes(line: string): string[] {
  return shells.flatMap(([file, ...flags]) => {
    fs.rmSync(workspace, { recursive: true, force: true });
    fs.mkdirSync(join(workspace, "sub"), { recursive: true });
    fs.writeFileSync(log, "");
    const run = spawnSync(file, [...flags, "-c", line], {
      cwd: workspace,
      env: { PATH: bin, HOME: workspace, LANG: "C.UTF-8" },
      // The fourth is closed by the last program of the line, one in the background included: only then is it over.
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      timeout: 60_000,
    });
    const started = fs
      .readFileSync(log, "utf8")
      .split("\n")
      .filter((name) => name !== "" && !LISTED.includes(name));
    const notFound = /not found|Permission denied|denied|cannot execute/i.exec(run.stderr.toString())?.[0] ?? [];
    const outside = fs.readdirSync(room).filter((name) => !["bin", "workspace", "log"].includes(name));
    return [...started, ...(typeof notFound === "string" ? [notFound] : []), ...outside].map(
      (what) => `${file}: ${what}`,
    );
  });
}

const word = fc.constantFrom(
  ...LISTED,
  ...LISTED,
  ...UNLISTED,
  "'a b'",
  '"c d"',
  "\\ ",
  "''",
  '"',
  "'",
  "sub",
  "../out",
  "*",
  "~",
  "é",
  "'é'",
);
const glue = fc.constantFrom(
  " ",
  " ",
  " ",
  " ",
  "  ",
  "\t",
  "",
  "; ",
  "\n",
  " && ",
  " || ",
  " | ",
  " & ",
  "|",
  "&",
  ";",
  " > ",
  " 2>&1 ",
  " < ",
  ">>",
  "2>",
);
const odd = fc.constantFrom(
  "$(evil)",
  "`evil`",
  "$x",
  "${x:-evil}",
  "$'evil'",
  "X=evil",
  "PATH=. ",
  "(",
  ")",
  "{",
  "}",
  "{evil,}",
  "!",
  "if",
  "then",
  "fi",
  "do",
  "<<E\n",
  "<<<",
  "<(",
  "&>",
  "|&",
  ";;",
  ">&",
  "<>",
  ">|",
  "#",
  " #",
  "\\",
  "\\\n",
  '\\"',
  "\\'",
  '"\\',
  "\r",
  "\u000B",
  "\u00A0",
  "\u0081",
  "eval",
  "exec",
  ".",
  "command",
  "()",
  "[",
  "]",
  "=",
  "%",
  "^",
  '"$(evil)"',
  "'$(evil)'",
  "\\$(evil)",
  "12>",
  "-",
  "--",
  "&1",
  "1>",
  "\u0085",
);
const free = fc.string({ unit: fc.constantFrom(..."ab \t\n'\"\\$`|&;<>(){}[]*?~#!=2-.é\r"), maxLength: 6 });
const piece = fc.oneof({ weight: 8, arbitrary: word }, { weight: 3, arbitrary: odd }, { weight: 1, arbitrary: free });
const lines = fc
  .array(fc.tuple(piece, glue), { minLength: 1, maxLength: 7 })
  .map((parts) => parts.flat().join(""))
  .chain((rest) => fc.constantFrom(`okay ${rest}`, `echo ${rest}`, rest));

test("no shell starts a program that the policy did not see", () => {
  let ran = 0;
  const rules = { allowedCommands: LISTED, forbiddenPaths: [], workspace, folder: "." };
  fc.assert(
    fc.property(lines, (line) => {
      if (line.includes("\0") || judgeLine(line, rules) !== undefined) return;
      ran += 1;
      expect(escapes(line)).toEqual([]);
    }),
    { numRuns: cases(2_500) },
  );
  expect(ran).toBeGreaterThan(cases(2_500) / 25);
  expect(shells.length).toBeGreaterThan(0);
});

test("the trap works: a line that the policy would not let run is seen starting another program", () => {
  expect(escapes("okay $(evil)")).not.toEqual([]);
  expect(escapes("okay; nowhere")).not.toEqual([]);
  expect(escapes("echo x > ../written-outside")).not.toEqual([]);
  fs.rmSync(join(room, "written-outside"));
});
