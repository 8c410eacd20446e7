/** `svc service install|status|uninstall`: lets the system's service manager keep the daemon running. */
import { EXIT } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { type Done, install, status, type Status, uninstall } from "../system-service/actions.ts";
import { commandText, managerOf } from "../system-service/manager.ts";
import { printable } from "../cli/output.ts";

export async function run(context: CommandContext): Promise<number> {
  const { env, options, args } = context;
  const manager = await managerOf({ env, system: options.flag("system") });
  const say = (value: object, text: string): void =>
    options.flag("json") ? context.printJson(value) : context.print(printable(text));
  if (args[0] === "status") {
    const found = await status(manager);
    say(
      { ...found, state: found.state ?? null, enabled: found.enabled ?? null, pid: found.pid ?? null },
      stateText(found),
    );
    return found.running ? EXIT.ok : EXIT.unavailable;
  }
  if (args[0] === "uninstall") {
    const done = await uninstall(manager, env, options.flag("force"));
    say(done, doneText(done, done.changed ? "removed" : "there is no"));
    return EXIT.ok;
  }
  const { planOf } = await import("../system-service/actions.ts");
  const plan = await planOf(context);
  if (options.flag("print")) {
    const text = manager.text(plan);
    if (options.flag("json")) context.printJson({ file: manager.file, text });
    else context.print(text.trimEnd());
    return EXIT.ok;
  }
  if (options.flag("dry-run")) {
    const { name, file } = manager;
    const commands = manager.enable(true).map(commandText);
    say(
      { manager: name, file, text: manager.text(plan), commands },
      [`would write ${file}`, "and run:", ...commands.map((command) => `  ${command}`)].join("\n"),
    );
    return EXIT.ok;
  }
  const done = await install(manager, plan, env, options.flag("force"));
  say(
    done,
    [doneText(done, done.changed ? "wrote" : "unchanged:"), ...(done.done ? ["the service runs"] : [])].join("\n"),
  );
  return EXIT.ok;
}

function doneText({ file, commands, notes }: Done, verb: string): string {
  return [
    `${verb} ${file}`,
    ...notes,
    ...(commands.length > 0 ? ["Type now:", ...commands.map((command) => `  ${command}`)] : []),
  ].join("\n");
}

function stateText({ file, installed, state, enabled, pid }: Status): string {
  if (installed === "absent") return `no service is installed (${file})\nInstall it with: svc service install`;
  const made = { ours: "as svc wrote it", edited: "changed by hand", foreign: "not written by svc" }[installed];
  const running =
    state === undefined ? "the service manager does not answer" : `${state}${pid ? `, process ${pid}` : ""}`;
  const start = enabled === undefined ? "" : enabled ? ", starts by itself" : ", does not start by itself";
  return `${running}${start}\n  file  ${file} (${made})`;
}
