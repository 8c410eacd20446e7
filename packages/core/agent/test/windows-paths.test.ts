// What Windows makes of a path: every spelling by which a tool could reach another file, a device or another machine than the
// path seems to name. Tried here with the path rules of Windows; apps/svc/test/windows.test.ts asks svc.exe itself.
import win32 from "node:path/win32";
import { describe, expect, test } from "vitest";
import { exactLine, judgeLine } from "../src/policy/command-line.ts";
import { createPathRules, isInside } from "../src/workspace/path-rules.ts";

const ROOT = String.raw`C:\Users\Ada\.svc\workspace`;

function rules({ workspaceOnly = true, forbiddenPaths = [] as readonly string[] } = {}) {
  const hidden = [String.raw`C:\Users\Ada\.svc`];
  return createPathRules({ given: ROOT, real: ROOT }, { forbiddenPaths, hidden, workspaceOnly }, win32);
}

const code = (path: string, options?: Parameters<typeof rules>[0]): string => {
  try {
    rules(options).locate(path);
    return "allowed";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("paths of Windows", () => {
  test.each([
    ["notes.txt", String.raw`${ROOT}\notes.txt`],
    ["a/b\\c.txt", String.raw`${ROOT}\a\b\c.txt`],
    ["./notes.txt", String.raw`${ROOT}\notes.txt`],
    [String.raw`${ROOT}\notes.txt`, String.raw`${ROOT}\notes.txt`],
    ["c:/users/ada/.SVC/Workspace/notes.txt", String.raw`${ROOT}\notes.txt`],
    ["console.txt", String.raw`${ROOT}\console.txt`],
    ["com.txt", String.raw`${ROOT}\com.txt`],
    ["about~me.txt", String.raw`${ROOT}\about~me.txt`],
    ["größe ß.txt", String.raw`${ROOT}\größe ß.txt`],
  ])("%s is %s", (path, expected) => {
    expect(rules().locate(path)).toBe(expected);
  });

  test.each([
    ["another drive", String.raw`D:\notes.txt`],
    ["another folder of the drive", String.raw`C:\Windows\win.ini`],
    ["a folder whose name begins as the workspace's", String.raw`${ROOT}2\notes.txt`],
    ["the folder above", String.raw`..\key`],
    ["the folder above, in the middle", "a/../../key"],
  ])("%s is outside of the workspace", (_name, path) => {
    expect(code(path)).toBe("PATH_OUTSIDE_WORKSPACE");
  });

  const traps: [string, string][] = [
    ["a share of another machine", String.raw`\\server\share\file`],
    ["the same with slashes", "//server/share/file"],
    ["a device", String.raw`\\.\PhysicalDrive0`],
    ["a path that is not parsed", String.raw`\\?\C:\Users\Ada\.svc\key`],
    ["a volume by its id", String.raw`\\?\Volume{b75e2c83-0000-0000-0000-602f00000000}\key`],
    ["the root of whatever drive", String.raw`\Windows\win.ini`],
    ["the current folder of a drive", "C:key"],
    ["the current folder of another drive", "D:"],
    ["an alternate data stream", "notes.txt:hidden"],
    ["the stream of a file's own bytes", "notes.txt::$DATA"],
    ["a stream of a folder", String.raw`${ROOT}\a:b\c`],
    ["a name with a dot at its end", "notes.txt."],
    ["a name with a blank at its end", "notes.txt "],
    ["a folder with a blank at its end", String.raw`a \notes.txt`],
    ["three dots", String.raw`a\...\notes.txt`],
    ["a wildcard", "notes*.txt"],
    ["the wildcards of DOS", 'a"<>.txt'],
    ["a line feed", "a\nb"],
    ["a short name", "SECRET~1.TXT"],
    ["a short name of a folder", String.raw`PROGRA~1\x`],
    ["a short name with a hash in it", "SE1A2B~1"],
  ];
  const devices = [
    "CON",
    "prn",
    "Aux",
    "nul",
    "NUL.txt",
    "nul .txt",
    "a/nul/b",
    "lpt.d/nul.gz.d",
    "COM1",
    "com9.log",
    "LPT1",
    "COM¹",
    "CONIN$",
  ];

  test.each([...traps, ...devices.map((name) => ["a device's name", name] as [string, string])])(
    "%s is refused, inside the workspace or not: %s",
    (_name, path) => {
      expect(code(path)).toBe("PATH_FORBIDDEN");
      expect(code(path, { workspaceOnly: false })).toBe("PATH_FORBIDDEN");
    },
  );

  test("capitals do not get around a forbidden path, nor around a hidden one", async () => {
    const options = { workspaceOnly: false, forbiddenPaths: ["Secret", String.raw`D:\Books`] };
    for (const path of ["secret", "SECRET/a.txt", String.raw`d:\BOOKS\x`, "d:/books"]) {
      expect(code(path, options)).toBe("PATH_FORBIDDEN");
    }
    expect(code("secrets", options)).toBe("allowed");
    await expect(rules({ workspaceOnly: false }).admit(String.raw`c:\USERS\ada\.SVC\key`)).rejects.toThrow(
      /belongs to/,
    );
  });

  test("letters are compared one by one, so that no other folder counts as the workspace", () => {
    expect(isInside(String.raw`C:\strasse\x`, String.raw`C:\straße`, win32)).toBe(false);
    expect(isInside(String.raw`C:\STRAßE\x`, String.raw`c:\straße`, win32)).toBe(true);
    expect(isInside(String.raw`C:\ÄRA\x`, String.raw`c:\ära`, win32)).toBe(true);
    expect(isInside(String.raw`C:\arab`, String.raw`c:\ara`, win32)).toBe(false);
    expect(isInside(String.raw`c:\ara`, "C:\\", win32)).toBe(true);
  });

  test.each([String.raw`\\server\share`, "C:relative", "a:b", "nul"])(
    "%s in forbidden_paths would protect nothing and is refused",
    (entry) => {
      expect(() => rules({ forbiddenPaths: [entry] })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    },
  );
});

describe("command lines of Windows", () => {
  const place = { workspace: "/", forbiddenPaths: [], folder: ".", platform: "win32" } as const;

  test.each(["git status", "dir", "echo a^&del b", "type a|b", "powershell -c ls"])(
    "%s asks, listed or not",
    (line) => {
      const allowedCommands = ["git status", "dir", "echo", "type", "powershell"];
      expect(judgeLine(line, { ...place, allowedCommands })).toMatch(/cmd\.exe/);
      expect(exactLine(line, place)).toMatch(/cmd\.exe/);
    },
  );
});
