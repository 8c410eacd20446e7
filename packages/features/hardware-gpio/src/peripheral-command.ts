/** `svc peripheral add <board> <path|native|tcp://…> | list | flash <alias> [firmware]`. */
import { type FeatureCommandContext, SvcError } from "@svc/contract";
import * as v from "valibot";
import { bridgeOf, type PeripheralsConfig, peripheralsConfig } from "./config.ts";
import { BOARDS_PATH, type BoardJson, FLASH_PATH } from "./routes.ts";
import { boardLine } from "./hardware-command.ts";

type Context = FeatureCommandContext<PeripheralsConfig>;

/** The words are those of the table of commands, which lets no other through. */
export async function run(context: Context): Promise<number> {
  switch (context.args[0]) {
    case "add":
      return await add(context);
    case "flash":
      return await flash(context);
    default:
      return await list(context);
  }
}

async function add(context: Context): Promise<number> {
  const { args, options, print, printJson } = context;
  const [, board = "", where = ""] = args;
  const transport = where === "native" ? "native" : bridgeOf(where) ? "bridge" : "serial";
  const baud = options.text("baud");
  const entry = {
    board,
    transport,
    ...(transport !== "native" && { path: where }),
    ...(baud !== undefined && { baud: Number(baud) }),
  };
  const parsed = v.safeParse(peripheralsConfig, { boards: [entry] });
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new SvcError(
      "USAGE",
      `This board can't be added: ${issue.path?.at(-1)?.key === undefined ? "" : `${String(issue.path.at(-1)?.key)}: `}${issue.message}`,
      {
        hint: "svc peripheral add --help has examples.",
      },
    );
  }
  if (context.config?.boards.some(({ path }) => (path ?? "native") === where)) {
    throw new SvcError("CONFIG_EXISTS", `[[peripherals.boards]] has a board at ${where} already.`, {
      hint: "svc peripheral list shows the boards; the config file has their entries.",
    });
  }
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  await context.editConfig((text) => `${text.trimEnd()}\n\n[[peripherals.boards]]\n${lines.join("\n")}\n`);
  const came = await context.reload();
  if (options.flag("json")) printJson({ added: entry, reload: came });
  else print(`${board} at ${where} was added to the config. ${came}`);
  return 0;
}

async function list({ ask, options, print, printJson }: Context): Promise<number> {
  const { boards } = (await ask({ method: "GET", path: BOARDS_PATH }).catch((error: unknown) => {
    if (error instanceof SvcError && (error.code === "NOT_CONFIGURED" || error.code === "NOT_FOUND"))
      return { boards: [] };
    throw error;
  })) as { boards: BoardJson[] };
  if (options.flag("json")) printJson({ boards });
  else if (boards.length === 0)
    print("No boards are configured or connected. Add one: svc peripheral add <board> <path>");
  else for (const board of boards) print(boardLine(board));
  return 0;
}

async function flash({ args, ask, confirm, options, print, printJson, progress }: Context): Promise<number> {
  const [, device = "", firmware] = args;
  if (!options.flag("yes")) {
    const answer = await confirm(`Replace the firmware of ${device}? All that is in its program memory is lost.`);
    if (answer === undefined) {
      throw new SvcError("USAGE", "Replacing the firmware needs a confirmation, but there is no terminal.", {
        hint: "Add --yes.",
      });
    }
    if (!answer) throw new SvcError("CANCELLED");
  }
  const shown = progress("Flashing; hold BOOTSEL while you plug the board in if its drive does not appear");
  shown.at(undefined);
  try {
    const body = { device, ...(firmware !== undefined && { firmware }) };
    const flashed = (await ask({ method: "POST", path: FLASH_PATH, body })) as {
      firmware: string;
      device: string | null;
    };
    shown.done();
    if (options.flag("json")) printJson(flashed);
    else
      print(
        flashed.device === null
          ? `${flashed.firmware} was written. The board has not come back yet; unplug it and plug it in again.`
          : `${flashed.firmware} was written; the board is back as ${flashed.device}.`,
      );
    return 0;
  } finally {
    shown.done();
  }
}
