/** What a channel makes of a delivery, judged: it is refused with a code, or can be kept. */
import { type Parsed, type SampleDelivery, SvcError } from "@svc/contract";
import { demand, errorText } from "../../check.ts";
import type { Endpoint } from "./delivered.ts";
import { flawOf } from "./inbound.ts";
import { demandNoSecret } from "./secrets.ts";

/** Undefined: it was refused with one of these codes. */
export function parsedOf(
  endpoint: Endpoint,
  delivery: SampleDelivery,
  codes: readonly string[] = ["BAD_JSON"],
): Parsed | undefined {
  try {
    return endpoint.parsed(delivery);
  } catch (error) {
    demandNoSecret(endpoint.opened.secrets, "the error of parse", error);
    if (error instanceof SvcError && codes.includes(error.code)) return undefined;
    throw new Error(`parse throws ${error instanceof SvcError ? error.code : errorText(error)}`, { cause: error });
  }
}

export function demandSound(endpoint: Endpoint, parsed: Parsed): void {
  const flaw = flawOf(parsed, endpoint.opened.id);
  demand(flaw === undefined, `what parse gives can't be kept: ${flaw}`);
}
