/** `svc sop new|edit|duplicate|rename|delete|enable|disable|versions|undo`: the files of a procedure, written as on the page. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SopSaved, SopSource, SopUndone, SopVersionDetail } from "@svc/api";
import { EXIT, SvcError } from "@svc/contract";
import { columns, printable } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import { atTerminal, confirmed } from "../cli/prompts.ts";
import type { Call } from "../service/control.ts";

interface Files {
  readonly toml: string;
  readonly markdown: string | null;
}

/** From files, or from the template. */
export async function create(context: CommandContext, call: Call, name: string): Promise<number> {
  const given = filesGiven(context);
  const files =
    given.toml === undefined
      ? { ...(await call({ name: "sop-draft", body: { name } })), ...given }
      : { toml: given.toml, markdown: given.markdown ?? null };
  const saved = await save(call, name, files, null);
  const next = `Edit it with: svc sop edit ${name}\nTry it with: svc sop test ${name}\nThen: svc sop enable ${name}`;
  return report(context, saved, `sops/${name} in the workspace is written.\n${next}`);
}

/** In an editor, or from files. */
export async function edit(context: CommandContext, call: Call, name: string): Promise<number> {
  const source = await call({ name: "sop-read", body: { name } });
  if (source.unwritable !== null) throw new SvcError("SOP_UNWRITABLE", source.unwritable);
  const given = filesGiven(context);
  if (given.toml !== undefined || given.markdown !== undefined) {
    const files = { toml: given.toml ?? source.toml, markdown: given.markdown ?? source.markdown };
    return report(context, await save(call, name, files, source.revision), `${name} is saved.`);
  }
  if (!atTerminal()) {
    throw new SvcError("USAGE", "An editor needs a terminal.", { hint: "Or use: --toml <file> --markdown <file>" });
  }
  return inEditor(context, call, name, source);
}

export async function duplicate(context: CommandContext, call: Call, name: string): Promise<number> {
  const to = context.args[2] ?? "";
  const saved = await call({ name: "sop-copy", body: { name, to } });
  return report(context, saved, `${to} is a copy of ${name}, and disabled.\nEdit it with: svc sop edit ${to}`);
}

export async function rename(context: CommandContext, call: Call, name: string): Promise<number> {
  const to = context.args[2] ?? "";
  const saved = await call({ name: "sop-rename", body: { name, to } });
  return report(context, saved, `${name} is named ${to} now. Its runs keep the name they began with.${wayBack(saved)}`);
}

/** As the page asks first: at a terminal. */
export async function remove(context: CommandContext, call: Call, name: string): Promise<number> {
  await confirmAtTerminal(context, `Delete ${name}? Runs that have begun go on.`);
  const saved = await call({ name: "sop-delete", body: { name } });
  return report(context, saved, `${name} is deleted.${wayBack(saved)}`);
}

const wayBack = ({ version }: SopSaved | SopUndone): string =>
  version === null ? "" : `\nUndo with: svc sop undo ${version}`;

export async function versions(context: CommandContext, call: Call, name: string): Promise<number> {
  const body = name === "" ? {} : { name };
  const list = await call({ name: "sop-versions", body });
  if (context.options.flag("json")) context.printJson(list);
  else if (list.versions.length === 0) context.print("no saved changes");
  else {
    const rows = list.versions.map(({ version, at, by, what, sops }) => [
      String(version),
      at,
      what,
      sops.join(", "),
      by,
    ]);
    context.print(printable(columns(rows)));
  }
  return EXIT.ok;
}

/** What is shown is what is undone: not what somebody saves meanwhile. */
export async function undo(context: CommandContext, call: Call, given: string): Promise<number> {
  const version = Number(given.replace(/^#/, ""));
  if (!Number.isInteger(version) || version < 1) {
    throw new SvcError("USAGE", "svc sop undo takes the number of a version.", { hint: "See: svc sop versions" });
  }
  const detail = await call({ name: "sop-version", body: { version } });
  if (!context.options.flag("json")) context.print(printable(diffText(detail)));
  if (detail.undo.length > 0) await confirmAtTerminal(context, `Undo version ${version}?`);
  const body = { version, revision: detail.revision };
  const saved = await call({ name: "sop-undo", body });
  const done = saved.version === null ? "Nothing was changed." : `Version ${version} is undone.${wayBack(saved)}`;
  return report(context, saved, done);
}

const SIGNS = { same: " ", added: "+", removed: "-", gap: "…" } as const;

const diffText = ({ undo: files }: SopVersionDetail): string =>
  files
    .map(({ sop, file, lines }) =>
      [`${sop}/${file}`, ...lines.map(({ kind, text }) => `${SIGNS[kind]} ${text}`)].join("\n"),
    )
    .join("\n\n");

async function confirmAtTerminal({ options }: CommandContext, question: string): Promise<void> {
  if (atTerminal() && !options.flag("yes") && !(await confirmed(question))) throw new SvcError("CANCELLED");
}

export const enable = (context: CommandContext, call: Call, name: string): Promise<number> =>
  switched(context, call, name, true);
export const disable = (context: CommandContext, call: Call, name: string): Promise<number> =>
  switched(context, call, name, false);

async function switched(context: CommandContext, call: Call, name: string, enabled: boolean): Promise<number> {
  const saved = await call({ name: "sop-switch", body: { name, enabled } });
  return report(context, saved, `${name} is ${enabled ? "enabled" : "disabled: nothing starts it but svc sop test"}`);
}

async function save(call: Call, name: string, { toml, markdown }: Files, revision: string | null): Promise<SopSaved> {
  const body = { name, toml, ...(markdown !== null && { markdown }), ...(revision !== null && { revision }) };
  return await call({ name: "sop-save", body });
}

function report(context: CommandContext, saved: SopSaved | SopUndone, text: string): number {
  if (context.options.flag("json")) context.printJson(saved);
  else {
    const warnings = saved.warnings.map(({ file, line, message }) => `warning: ${file}:${line}  ${message}`);
    context.print(printable([text, ...warnings].join("\n")));
  }
  return EXIT.ok;
}

/** What is wrong is edited again; what is not saved in the end is kept in a folder that is named. */
async function inEditor(context: CommandContext, call: Call, name: string, source: SopSource): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "svc-sop-"));
  const [toml, markdown] = [join(folder, "SOP.toml"), join(folder, "SOP.md")];
  const forget = (): void => {
    try {
      for (const file of [toml, markdown]) unlinkSync(file);
      rmdirSync(folder);
    } catch {
      // An editor keeps files of its own there.
    }
  };
  writeFileSync(toml, source.toml);
  writeFileSync(markdown, source.markdown ?? "");
  for (;;) {
    openEditor(context, [toml, markdown]);
    const text = { toml: readFileSync(toml, "utf8"), markdown: readFileSync(markdown, "utf8") };
    const files = { ...text, markdown: text.markdown === "" ? null : text.markdown };
    if (files.toml === source.toml && files.markdown === source.markdown) {
      forget();
      context.print("Nothing was changed.");
      return EXIT.ok;
    }
    try {
      const saved = await save(call, name, files, source.revision);
      forget();
      return report(context, saved, `${name} is saved.`);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      const hint = `What you wrote is in ${folder}`;
      if (error.code !== "SOP_INVALID") throw new SvcError(error.code, error.message, { hint, cause: error });
      context.print(printable(error.message));
      if (!(await confirmed("Edit again?", true))) throw new SvcError("SOP_INVALID", undefined, { hint });
    }
  }
}

function openEditor({ env }: CommandContext, files: readonly string[]): void {
  // Several words are a program and its options, as git and crontab take them.
  const [program = "vi", ...options] = (env["VISUAL"] || env["EDITOR"] || "vi").trim().split(/\s+/);
  const { error, status } = spawnSync(program, [...options, ...files], { stdio: "inherit" });
  if (error || status !== 0) {
    throw new SvcError("USAGE", "The editor could not be used.", {
      hint: "Set VISUAL or EDITOR to one.",
      cause: error,
    });
  }
}

function filesGiven({ options }: CommandContext): { readonly toml?: string; readonly markdown?: string } {
  const [toml, markdown] = [options.text("toml"), options.text("markdown")];
  return {
    ...(toml !== undefined && { toml: textOf(toml) }),
    ...(markdown !== undefined && { markdown: textOf(markdown) }),
  };
}

function textOf(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    throw new SvcError("USAGE", `${file} can't be read as text.`, { cause });
  }
}
