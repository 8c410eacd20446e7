/** `svc audit list|verify`: who started, approved and ended what. Works without a daemon too. */
import { EXIT, type Json, SvcError } from "@svc/contract";
import { columns, printable, second } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  return context.args[0] === "verify" ? await verify(context) : await list(context);
}

interface AuditLine {
  readonly n: number;
  readonly at: string;
  readonly kind: string;
  readonly data: Json;
}

async function list(context: CommandContext): Promise<number> {
  const limit = context.options.text("limit");
  const body = limit === undefined ? {} : { limit };
  const told = (await callHere(await offlineOptions(context), { name: "audit", body })) as unknown as {
    entries: AuditLine[];
  };
  if (context.options.flag("json")) context.printJson(told);
  else if (told.entries.length === 0) context.print("the audit log is empty");
  else context.print(printable(columns(told.entries.map(row))));
  return EXIT.ok;
}

async function verify(context: CommandContext): Promise<number> {
  if (context.options.text("limit") !== undefined) throw new SvcError("USAGE", "svc audit verify reads all of it.");
  const told = (await callHere(await offlineOptions(context), { name: "audit-verify" })) as unknown as {
    ok: boolean;
    entries: number;
    broken_at: number | null;
  };
  if (context.options.flag("json")) context.printJson(told);
  if (!told.ok && !context.options.flag("json")) {
    throw new SvcError(
      "AUDIT_BROKEN",
      `The audit log was changed outside of svc, at or before line ${told.broken_at}.`,
      {
        hint: "Compare it with a backup: svc audit list --json",
      },
    );
  }
  if (told.ok && !context.options.flag("json")) {
    context.print(`${told.entries} ${told.entries === 1 ? "line" : "lines"}, none changed`);
  }
  return told.ok ? EXIT.ok : EXIT.data;
}

const row = ({ n, at, kind, data }: AuditLine): string[] => [String(n), second(at), kind, JSON.stringify(data)];
