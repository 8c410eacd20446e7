/** One look at a serial port that is no board's of the registry: what does it speak? */
import { type Clock, SvcError } from "@svc/contract";
import { BoardConnection } from "./connection.ts";
import { isBoardPath } from "./link/serial-path.ts";
import type { Introspected } from "./routes.ts";

/** Rejects with BOARD_*. */
export async function introspectPath(path: string, clock: Clock, signal: AbortSignal): Promise<Introspected> {
  if (!isBoardPath(path)) {
    throw new SvcError("BOARD_REFUSED", `${path} is not the path of a serial port of a board; it was not opened.`, {
      hint: "Name it in [[peripherals.boards]] to use it all the same: svc peripheral add <board> <path>",
    });
  }
  const connection = new BoardConnection({
    what: path,
    clock,
    protocols: ["json", "firmata", "micropython"],
    speedOf: (protocol) => (protocol === "firmata" ? 57_600 : 115_200),
    open: async (baud) => (await import("./link/serial-link.ts")).openSerial({ what: path, path, baud }),
  });
  try {
    return await connection.run(signal, async (dialect, limited) => ({
      device: null,
      path,
      protocol: dialect.protocol,
      about: await dialect.describe(limited),
    }));
  } finally {
    await connection.close();
  }
}
