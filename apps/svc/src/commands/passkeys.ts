/** `svc passkeys list|rename|remove`: every device's passkeys. */
import type { PasskeyLine } from "@svc/api/control";
import { EXIT } from "@svc/contract";
import { columns, minute } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import { type Backend, openBackend } from "../service/backend.ts";
import { byPrefix } from "../service/handlers/input.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action, id = "", name = ""] = context.args;
  await using backend = await openBackend(context);
  if (action === "rename") return await rename(context, backend, id, name);
  if (action === "remove") return await remove(context, backend, id);
  const passkeys = await list(context, backend);
  if (context.options.flag("json")) context.printJson({ passkeys });
  else context.print(passkeys.length === 0 ? NONE : table(passkeys));
  return EXIT.ok;
}

const NONE = "No passkeys.\nAdd one on the dashboard, under Passkeys.";

async function list({ options }: CommandContext, { call }: Backend): Promise<readonly PasskeyLine[]> {
  const userId = options.text("user-id");
  const body = userId === undefined ? {} : { user_id: userId };
  return (await call({ name: "passkeys", body })).passkeys;
}

async function rename(context: CommandContext, backend: Backend, given: string, name: string): Promise<number> {
  const { id } = byPrefix(await list(context, backend), given, "PASSKEY_UNKNOWN", ({ name }) => name);
  const renamed = await backend.call({ name: "passkey-rename", body: { id, name } });
  if (context.options.flag("json")) context.printJson(renamed);
  else context.print(`${briefly(id)} is now called ${renamed.name}`);
  return EXIT.ok;
}

async function remove(context: CommandContext, backend: Backend, given: string): Promise<number> {
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  const passkey = byPrefix(await list(context, backend), given, "PASSKEY_UNKNOWN", ({ name }) => name);
  const { id, name, user_id: userId } = passkey;
  const question = `Remove ${name} of ${userId} (${used(passkey)})? It signs in no more.`;
  if (atTerminal() && !context.options.flag("yes") && !(await confirmed(question))) {
    context.print("nothing was changed");
    return EXIT.failure;
  }
  const removed = await backend.call({ name: "passkey-remove", body: { id } });
  if (context.options.flag("json")) context.printJson(removed);
  else {
    context.print(`${name} (${briefly(id)}) of ${userId} is removed`);
    if (removed.left_of_user === 0) context.print(`${userId} has no passkey any more`);
  }
  return EXIT.ok;
}

const table = (passkeys: readonly PasskeyLine[]): string =>
  columns(
    passkeys.map((passkey) => [
      briefly(passkey.id),
      passkey.name,
      passkey.user_id === passkey.user_name ? passkey.user_id : `${passkey.user_id} (${passkey.user_name})`,
      passkey.device === null ? "" : `of ${passkey.device.name}`,
      `added ${minute(passkey.created_at)}`,
      used(passkey),
      passkey.suspect ? "MAY BE COPIED: refused until it is removed" : "",
    ]),
  );

/** As much of it as nobody else's begins with, and a person can copy. */
const briefly = (id: string): string => id.slice(0, 12);

const used = ({ last_used_at: at }: PasskeyLine): string => (at === null ? "never used" : `last used ${minute(at)}`);
