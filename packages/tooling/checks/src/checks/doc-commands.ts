/** A page's commands are typed by people in their first minutes; one that does not exist is the first thing they learn. */
import type { ObjectExpression } from "oxc-parser";
import type { Check, Finding } from "../check.ts";
import { markdownLines } from "@svc/docs/markdown";
import { type Source, walk } from "@svc/source";
import type { Workspace } from "../workspace.ts";

export const docCommands: Check = {
  id: "doc-commands",
  rule: "The npm scripts, files and svc commands in a page's shell blocks exist.",
  find(workspace) {
    const known: Known = { scripts: scriptsOf(workspace), commands: svcCommands(workspace), files: workspace.files };
    return [...workspace.files]
      .filter(([file]) =>
        /^(?:[^/]+\.md|docs\/.*\.md|packages\/[^/]+\/[^/]+\/README\.md|bench\/README\.md)$/.test(file),
      )
      .flatMap(([file, text]) =>
        markdownLines(text).flatMap(({ text: content, line, fence }) =>
          commandTexts(content, fence)
            .flatMap(commandsIn)
            .flatMap((words) => {
              const message = judge(words, known);
              return message === undefined ? [] : [wrong(file, line, message)];
            }),
        ),
      );
  },
};

interface Known {
  readonly scripts: ReadonlySet<string>;
  /** Empty when the app has none yet: then nothing is known about them. */
  readonly commands: ReadonlyMap<string, Command>;
  readonly files: ReadonlyMap<string, string>;
}

const wrong = (file: string, line: number, message: string): Finding => ({
  file,
  line,
  message,
  fix: "Change the page to what exists, or add the command in the same change.",
});

function judgeSvc(name: string, action: string, commands: Known["commands"]): string | undefined {
  if (commands.size === 0 || !/^[a-z]/.test(name)) return undefined;
  const command = commands.get(name);
  if (!command) return `svc has no command "${name}".`;
  if (command.actions.size === 0 || !/^[a-z]/.test(action) || command.actions.has(action)) return undefined;
  return `svc ${name} does not know "${action}".`;
}

/** npm's and pnpm's own words that need no script. */
const NPM = new Set(["ci", "install", "exec", "pack", "root", "prefix", "view"]);
const PNPM = new Set(["install", "add", "remove", "exec", "update", "why", "list", "rebuild", "dlx"]);
const NPM_SHORT = new Set(["start", "test", "stop", "restart"]);

function judge([program = "", first = "", second = ""]: readonly string[], known: Known): string | undefined {
  const script = (name: string): string | undefined =>
    known.scripts.has(name) ? undefined : `There is no npm script "${name}".`;
  if (program === "npm") {
    if (first === "run") return script(second);
    return NPM.has(first) ? undefined : NPM_SHORT.has(first) ? script(first) : `npm has no command "${first}".`;
  }
  if (program === "pnpm") {
    if (first === "run") return script(second);
    return first.startsWith("-") || PNPM.has(first) ? undefined : script(first);
  }
  if (/^(?:sh|bash|node)$/.test(program) && /^(?:\.\/)?[\w./-]+\.(?:sh|mjs|ts)$/.test(first)) {
    const file = first.replace(/^\.\//, "");
    // What `pnpm new plugin` makes for the reader.
    return file.startsWith("plugins/") || known.files.has(file) ? undefined : `There is no file ${first}.`;
  }
  return /(?:^|\/)svc(?:\.exe)?$/.test(program) ? judgeSvc(first, second, known.commands) : undefined;
}

/** A line of a shell block, or what the running text has in backquotes when it begins like a command of ours. */
function commandTexts(content: string, fence: string | undefined): string[] {
  if (fence !== undefined) return /^(?:sh|bash|shell|console|powershell)$/.test(fence) ? [content] : [];
  const spans = [...content.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
  return spans.filter((span) => /^(?:npm|pnpm|svc) [a-z]/.test(span));
}

/** Commands of a line: prompts, comments, variable assignments and continuations taken away. */
const commandsIn = (line: string): string[][] =>
  line
    .replace(/^\s*[$>]\s+/, "")
    .replace(/(?:^|\s)#.*$/, "")
    .split(/\s*(?:&&|\|\||;|\|)\s*/)
    .map((part) => part.trim().split(/\s+/))
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z_][A-Z0-9_]*=/.test(word))))
    .filter(([program]) => program !== undefined && program !== "");

function scriptsOf(workspace: Workspace): ReadonlySet<string> {
  const root = JSON.parse(workspace.files.get("package.json") ?? "{}") as { scripts?: Record<string, string> };
  return new Set(Object.keys(root.scripts ?? {}));
}

/** The commands of apps/svc/src/command-table.ts: every object with a text `usage`, and `help`, which needs no entry. */
function svcCommands(workspace: Workspace): ReadonlyMap<string, Command> {
  const commands = new Map<string, Command>();
  for (const source of workspace.sources((file) => file === "apps/svc/src/command-table.ts")) {
    walk(source.program, (node) => {
      if (node.type !== "ObjectExpression") return;
      const usage = textsOf(node, "usage", source)[0];
      if (usage === undefined) return;
      const name = usage.split(" ")[0] ?? "";
      // An action may be followed by the arguments it takes.
      const actions = textsOf(node, "actions", source).map((action) => action.split(" ")[0] ?? "");
      commands.set(name, { actions: new Set(actions) });
    });
  }
  return commands.size === 0 ? commands : commands.set("help", { actions: new Set() });
}

interface Command {
  /** Words its first argument may be; empty: any. */
  readonly actions: ReadonlySet<string>;
}

/** All text constants in one property of an object. */
function textsOf(object: ObjectExpression, key: string, { text }: Source): string[] {
  const texts: string[] = [];
  for (const property of object.properties) {
    if (property.type !== "Property" || text.slice(property.key.start, property.key.end) !== key) continue;
    walk(property.value, (node) => {
      if (node.type === "Literal" && typeof node.value === "string") texts.push(node.value);
    });
  }
  return texts;
}
