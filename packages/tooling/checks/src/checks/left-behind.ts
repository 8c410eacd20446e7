/** What a machine leaves in a file: it works here and nowhere else, or tells strangers about this machine. */
import type { Check } from "../check.ts";

const MARKS: readonly { readonly pattern: RegExp; readonly message: string; readonly fix: string }[] = [
  {
    pattern:
      /\b(?:registry\.(?:npmjs\.org|yarnpkg\.com|npmmirror\.com)|npm\.pkg\.github\.com|(?:files\.pythonhosted|pypi)\.org)\b/,
    message: "The host of a package registry.",
    fix: "Leave the registry to the person's own configuration.",
  },
  {
    pattern:
      /(?:^|[\s"'`=(:])(?:\/home\/(?!user\b|you\b|me\b|someone\b|svc\b)[a-z][\w.-]*\/|\/Users\/(?!you\b)[A-Za-z][\w.-]*\/|\/root\/|\/work\/)/,
    message: "An absolute path of one machine.",
    fix: "Derive it from import.meta.dirname, the home or a temporary folder.",
  },
  {
    pattern: /^\s*(?:resolution:.*tarball:|"?(?:resolved|tarball)"?:)\s*"?https?:/,
    message: "A download address in a lock file.",
    fix: "Lock again without it.",
  },
];

/** Files that may, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "packages/tooling/checks/": "these patterns and their tests",
  "packages/tooling/bootstrap/wine/": "paths inside a separate root folder, the same on every machine",
};

export const leftBehind: Check = {
  id: "left-behind",
  rule: "No file names a package registry's host or an absolute path of one machine.",
  find: (workspace) =>
    [...workspace.files]
      .filter(([file]) => !Object.keys(EXCEPTIONS).some((folder) => file.startsWith(folder)))
      .flatMap(([file, text]) =>
        text.split("\n").flatMap((content, index) =>
          MARKS.filter(({ pattern }) => pattern.test(content)).map(({ message, fix }) => ({
            file,
            line: index + 1,
            message,
            fix,
          })),
        ),
      ),
};
