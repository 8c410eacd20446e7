/** `svc audit list|verify`: who started, approved and ended what. Works without a daemon too. */
import type { AuditEntry } from "@svc/api";
import { EXIT, SvcError } from "@svc/contract";
import { columns, printable, second } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  return context.args[0] === "verify" ? await verify(context) : await list(context);
}

async function list(context: CommandContext): Promise<number> {
  const limit = context.options.text("limit");
  const body = limit === undefined ? {} : { limit };
  const found = await callHere(await offlineOptions(context))({ name: "audit", body });
  if (context.options.flag("json")) context.printJson(found);
  else if (found.entries.length === 0) context.print("the audit log is empty");
  else context.print(printable(columns(found.entries.map(row))));
  return EXIT.ok;
}

async function verify(context: CommandContext): Promise<number> {
  if (context.options.text("limit") !== undefined) throw new SvcError("USAGE", "svc audit verify reads all of it.");
  const found = await callHere(await offlineOptions(context))({ name: "audit-verify" });
  if (context.options.flag("json")) context.printJson(found);
  if (!found.ok && !context.options.flag("json")) {
    throw new SvcError(
      "AUDIT_BROKEN",
      `The audit log was changed outside of svc, at or before line ${found.broken_at}.`,
      {
        hint: "Compare it with a backup: svc audit list --json",
      },
    );
  }
  if (found.ok && !context.options.flag("json")) {
    context.print(`${found.entries} ${found.entries === 1 ? "line" : "lines"}, none changed`);
  }
  return found.ok ? EXIT.ok : EXIT.data;
}

const row = ({ n, at, kind, data }: AuditEntry): string[] => [String(n), second(at), kind, JSON.stringify(data)];
