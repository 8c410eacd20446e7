/** A dead link tells the reader that the page is not maintained. */
import { posix } from "node:path";
import type { Check, Finding } from "../check.ts";
import { anchorsOf, markdownLines } from "@svc/docs/markdown";
import type { Workspace } from "../workspace.ts";

export const docLinks: Check = {
  id: "doc-links",
  rule: "Every relative link in a Markdown page leads to a file of the checkout, and its anchor to a heading.",
  find(workspace) {
    const folders = foldersOf(workspace);
    const pages = [...workspace.files].filter(([file]) => file.endsWith(".md") && !file.includes("/templates/"));
    return pages.flatMap(([file, text]) =>
      markdownLines(text)
        .filter(({ fence }) => fence === undefined)
        .flatMap(({ text: content, line }) =>
          linksIn(content).flatMap((link) => {
            const problem = follow(file, link, workspace, folders);
            return problem === undefined ? [] : [broken(file, line, link, problem)];
          }),
        ),
    );
  },
};

const broken = (file: string, line: number, link: string, problem: string): Finding => ({
  file,
  line,
  message: `The link to ${link} is broken: ${problem}.`,
  fix: "Point it at what exists; generated and ignored files don't count.",
});

/** `[text](target)`, `![text](target "title")` and `[name]: target`, outside of inline code. */
function linksIn(line: string): string[] {
  const text = line.replace(/`[^`]*`/g, "");
  const inline = [...text.matchAll(/\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/g)].map((match) => match[1] ?? "");
  const named = /^\s*\[[^\]]+\]:\s*<?([^\s>]+)/.exec(text)?.[1];
  return [...inline, ...(named === undefined ? [] : [named])].filter(
    (link) => !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(link),
  );
}

function follow(file: string, link: string, workspace: Workspace, folders: ReadonlySet<string>): string | undefined {
  const [path = "", anchor] = link.split("#");
  const from = path.startsWith("/") ? "" : posix.dirname(file);
  const target = path === "" ? file : posix.join(from, decodeURI(path)).replace(/\/$/, "").replace(/^\//, "");
  const text = workspace.files.get(target) ?? workspace.files.get(`${target}.md`);
  if (text === undefined) return folders.has(target) && anchor === undefined ? undefined : "there is no such file";
  if (anchor === undefined || !(target.endsWith(".md") || path === "")) return undefined;
  return anchorsOf(text).has(decodeURI(anchor)) ? undefined : "there is no such heading";
}

function foldersOf(workspace: Workspace): ReadonlySet<string> {
  const folders = new Set(["", "."]);
  for (const file of workspace.files.keys()) {
    for (let folder = posix.dirname(file); folder !== "."; folder = posix.dirname(folder)) folders.add(folder);
  }
  return folders;
}
