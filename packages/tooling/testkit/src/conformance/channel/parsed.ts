/** What a channel makes of a delivery, judged: it is refused with a code, or can be kept. */
import { type Parsed, type SampleDelivery, SvcError } from "@svc/contract";
import { demand, told } from "../../check.ts";
import type { Door } from "./delivered.ts";
import { flawOf } from "./inbound.ts";
import { demandNoSecret } from "./secrets.ts";

/** Undefined: it was refused with one of these codes. */
export function parsedOf(
  door: Door,
  delivery: SampleDelivery,
  codes: readonly string[] = ["BAD_JSON"],
): Parsed | undefined {
  try {
    return door.parsed(delivery);
  } catch (error) {
    demandNoSecret(door.opened.secrets, "the error of parse", error);
    if (error instanceof SvcError && codes.includes(error.code)) return undefined;
    throw new Error(`parse throws ${error instanceof SvcError ? error.code : told(error)}`, { cause: error });
  }
}

export function demandSound(door: Door, parsed: Parsed): void {
  const flaw = flawOf(parsed, door.opened.id);
  demand(flaw === undefined, `what parse gives can't be kept: ${flaw}`);
}
